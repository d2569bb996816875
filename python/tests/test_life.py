# SPDX-License-Identifier: Apache-2.0
"""Garbage, leaks, fork, sub-interpreters, shutdown of the interpreter."""
import asyncio
import gc
import os
import subprocess
import sys
import tracemalloc
import warnings
import weakref

import pytest

import horae


class Node:
    pass


def abandoned_loop(fill):
    """A loop that nobody closed, with a cycle through it; returns weak references to both."""
    loop = horae.new_event_loop()
    node = Node()
    node.loop = loop
    fill(loop, node)
    return weakref.ref(loop), weakref.ref(node)


def timer_cycle(loop, node):
    node.handle = loop.call_later(1000, lambda: node)


def ready_cycle(loop, node):
    node.handle = loop.call_soon(lambda *args: node, node, node)


def explicit_context_cycle(loop, node):
    import contextvars

    context = contextvars.copy_context()
    context.run(contextvars.ContextVar("cycle").set, node)
    node.handle = loop.call_later(1000, print, context=context)


def debug_cycle(loop, node):
    loop.set_debug(True)
    node.handle = loop.call_later(1000, lambda: node)


def reader_cycle(loop, node):
    node.ends = os.pipe()
    loop.add_reader(node.ends[0], lambda: node)


@pytest.mark.parametrize("fill", [timer_cycle, ready_cycle, explicit_context_cycle, debug_cycle, reader_cycle])
def test_cycles_through_pending_handles_are_collected(fill):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        loop, node = abandoned_loop(fill)
        gc.collect()
        assert loop() is None and node() is None


def test_a_running_cycle_is_not_collected(loop):
    """What the loop still has to run must survive a collection."""
    node = Node()
    node.seen = []
    probe = weakref.ref(node)

    def callback(which):
        gc.collect()
        which.seen.append(1)
        if len(which.seen) == 3:
            loop.stop()

    loop.call_soon(callback, node)
    loop.call_later(0.001, callback, node)
    loop.call_later(0.002, callback, node)
    seen = node.seen
    del node
    gc.collect()
    assert probe() is not None
    loop.run_forever()
    assert seen == [1, 1, 1] and probe() is None


def test_handles_do_not_keep_a_loop_alive():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        loop = horae.new_event_loop()
        probe = weakref.ref(loop)
        handles = [loop.call_soon(print), loop.call_later(10, print)]
        del loop
        gc.collect()
    assert probe() is None
    for handle in handles:
        assert handle._loop is None and not handle.cancelled()
        handle.cancel()
        repr(handle)


def test_a_cancelled_handle_that_was_in_the_queue_forgets_its_loop():
    loop = horae.new_event_loop()
    handle, timer = loop.call_soon(print), loop.call_later(0, print)
    handle.cancel()
    loop.call_soon(timer.cancel)
    loop.call_later(0, loop.stop)
    loop.run_forever()
    loop.close()
    probe = weakref.ref(loop)
    del loop
    gc.collect()
    assert probe() is None and handle._loop is None and timer._loop is None


def exercise(loop, count):
    def nothing(*args):
        pass

    for index in range(count):
        loop.call_soon(nothing)
        loop.call_soon(nothing, index, index)
        loop.call_later(0, nothing, index)
        loop.call_later(1000, nothing).cancel()
    loop.cancel_many(loop.call_later_many([1000.0] * 100, nothing))
    loop.call_later(0, loop.stop)
    loop.run_forever()
    loop.call_soon(loop.stop)
    loop.run_forever()


def test_no_reference_and_no_memory_is_lost_over_a_million():
    loop = horae.new_event_loop()
    rounds, per_round = 25, 10_000  # four handles each: a million
    exercise(loop, per_round)
    gc.collect()
    tracemalloc.start()
    exercise(loop, per_round)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    none, blocks = sys.getrefcount(None), sys.getallocatedblocks()
    for _ in range(rounds):
        exercise(loop, per_round)
    gc.collect()
    lost_blocks = sys.getallocatedblocks() - blocks
    if sys.version_info < (3, 12):  # None is immortal since
        assert abs(sys.getrefcount(None) - none) < 100
    assert lost_blocks < 200
    tracemalloc.start()
    exercise(loop, per_round)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 4096
    loop.close()


def test_failing_callbacks_lose_nothing():
    loop = horae.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)

    def fail(node):
        raise ValueError(node)

    probes = []
    for _ in range(100):
        node = Node()
        probes.append(weakref.ref(node))
        loop.call_soon(fail, node)
        loop.call_later(0, fail, node)
    del node
    loop.call_later(0.001, loop.stop)
    loop.run_forever()
    loop.close()
    gc.collect()
    assert not any(probe() for probe in probes)


def test_fork_gives_the_child_its_own_descriptors():
    """The child closes its loop and uses a new run; the parent's registrations and wake-ups are untouched."""
    program = """
import asyncio, os, signal, socket, horae
loop = horae.new_event_loop()
left, right = socket.socketpair()
seen = []
loop.add_signal_handler(signal.SIGUSR1, seen.append, "signal")
loop.add_reader(left, lambda: (seen.append(left.recv(10)), loop.stop()))
loop.call_soon(loop.stop); loop.run_forever()
child = os.fork()
if child == 0:
    try:
        loop.run_until_complete(asyncio.sleep(0.001))
        loop.call_soon_threadsafe(os.kill, os.getpid(), signal.SIGUSR1)
        loop.run_until_complete(asyncio.sleep(0.01))
        assert seen == ["signal"], seen
        loop.remove_reader(left)
        loop.close()
        horae.run(asyncio.sleep(0))
        os._exit(0)
    except BaseException as error:
        print("child:", repr(error), flush=True)
        os._exit(1)
_, status = os.waitpid(child, 0)
right.send(b"hello")
loop.call_later(5, loop.stop)
loop.run_forever()
print(status, seen)
loop.remove_reader(left); loop.close()
left.close(); right.close()
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (run.stdout, run.stderr) == ("0 [b'hello']\n", "")


def test_the_interpreter_ends_with_timers_pending():
    program = """
import asyncio, sys, horae
loop = horae.new_event_loop()
class Loud:
    def __del__(self): loop
handles = [loop.call_later(i, Loud().__class__, Loud()) for i in range(100)]
loop.call_soon(print)
keep = loop, handles
sys.modules["held"] = keep
async def sleepy():
    await asyncio.sleep(100)
other = horae.new_event_loop()
task = other.create_task(sleepy())
other.call_soon(other.stop); other.run_forever()
sys.stdout.write("end\\n")
"""
    for options in ([], ["-X", "dev"]):
        run = subprocess.run([sys.executable, *options, "-W", "ignore", "-c", program], capture_output=True, text=True)
        assert run.returncode == 0 and run.stdout == "end\n"
        assert "Fatal" not in run.stderr and "Segmentation" not in run.stderr


def test_sub_interpreters_are_refused():
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = pytest.importorskip("_interpreters")
    program = """
import sys
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
import horae
other = interpreters.create()
code = '''
try:
    import horae
except ImportError as error:
    print("refused:", error)
'''
if hasattr(interpreters, "run_string"):
    interpreters.run_string(other, code)
else:
    interpreters.exec(other, code)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("refused: ")


def test_tasks_do_not_outlive_run():
    probes = []

    async def child():
        probes.append(weakref.ref(asyncio.current_task()))
        await asyncio.sleep(100)

    async def main():
        for _ in range(10):
            asyncio.ensure_future(child())
        await asyncio.sleep(0)

    horae.run(main())
    gc.collect()
    assert len(probes) == 10 and not any(probe() for probe in probes)
