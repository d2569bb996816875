# SPDX-License-Identifier: Apache-2.0
"""Running: signals, Ctrl-C, threads, asynchronous generators, subclasses, I/O beside busy callbacks."""
import asyncio
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import horae


def run_program(program, *options, timeout=60):
    # A job in the background starts with SIGINT ignored.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + program
    return subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, timeout=timeout)


def test_ctrl_c_cancels_the_main_task():
    program = """
import asyncio, os, signal, horae
async def main():
    asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cleaned up")
        raise
try:
    horae.run(main())
except KeyboardInterrupt:
    print("interrupted")
"""
    run = run_program(program)
    assert (run.stdout, run.stderr) == ("cleaned up\ninterrupted\n", "")


def test_ctrl_c_reaches_a_loop_of_native_callbacks_only():
    """Without bytecode between them nobody but the loop itself looks for signals."""
    program = """
import functools, os, signal, threading, time, horae
loop = horae.new_event_loop()
def send():
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
endless = functools.partial(loop.call_soon)
endless.__setstate__((loop.call_soon, (endless,), {}, {}))  # loop.call_soon(endless), for ever
loop.call_soon(endless)
threading.Thread(target=send).start()
try:
    loop.run_forever()
except KeyboardInterrupt:
    print("interrupted")
os._exit(0)
"""
    run = run_program(program.replace("os._exit(0)", "import sys; sys.stdout.flush(); os._exit(0)"))
    assert (run.stdout, run.stderr) == ("interrupted\n", "")


def test_ctrl_c_while_asleep_without_a_runner():
    program = """
import os, signal, threading, time, horae
loop = horae.new_event_loop()
def send():
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
try:
    loop.run_forever()
except KeyboardInterrupt:
    print("interrupted")
loop.close()
"""
    run = run_program(program)
    assert (run.stdout, run.stderr) == ("interrupted\n", "")


def test_signal_handlers(either):
    seen = []

    def caught(number):
        seen.append(number)
        either.stop()

    either.add_signal_handler(signal.SIGUSR1, caught, signal.SIGUSR1)
    either.call_later(0.001, os.kill, os.getpid(), signal.SIGUSR1)
    either.run_forever()
    assert either.remove_signal_handler(signal.SIGUSR1)
    assert seen == [signal.SIGUSR1]


def test_a_plain_signal_handler_runs_while_asleep(either):
    seen = []
    before = signal.signal(signal.SIGUSR2, lambda *args: (seen.append(1), either.call_soon_threadsafe(either.stop)))
    thread = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGUSR2))
    thread.start()
    either.run_forever()
    thread.join()
    signal.signal(signal.SIGUSR2, before)
    assert seen == [1]


def test_threadsafe_calls_from_16_threads(loop):
    per_thread, seen = 2000, []

    def work(number):
        for index in range(per_thread):
            loop.call_soon_threadsafe(seen.append, (number, index))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]

    def wait():
        for thread in threads:
            thread.join()
        loop.call_soon_threadsafe(loop.stop)

    for thread in threads:
        thread.start()
    waiter = threading.Thread(target=wait)
    waiter.start()
    loop.run_forever()
    waiter.join()
    assert len(seen) == 16 * per_thread
    for number in range(16):
        assert [index for who, index in seen if who == number] == list(range(per_thread))


def test_one_wake_up_per_sleep(loop):
    """However many calls come while the loop sleeps, the eventfd is written once."""
    thread_may_go = threading.Event()

    def burst():
        thread_may_go.wait()
        for _ in range(1000):
            loop.call_soon_threadsafe(lambda: None)
        loop.call_soon_threadsafe(loop.stop)

    thread = threading.Thread(target=burst)
    thread.start()
    loop.call_soon(thread_may_go.set)
    loop.run_forever()
    thread.join()
    metrics = loop.metrics()
    assert metrics["wakes"] <= metrics["sleeps"]


def test_wake_against_close():
    for _ in range(50):
        loop = horae.new_event_loop()
        failed = []

        def hammer():
            try:
                while True:
                    loop.call_soon_threadsafe(lambda: None)
            except RuntimeError as error:
                failed.append(str(error))

        thread = threading.Thread(target=hammer)
        thread.start()
        loop.call_later(0.0005, loop.stop)
        loop.run_forever()
        loop.close()
        thread.join()
        assert failed == ["Event loop is closed"]


def test_closing_leaves_no_thread_and_no_descriptor():
    def descriptors():
        return set(os.listdir("/proc/self/fd"))

    async def main():
        await asyncio.to_thread(lambda: None)
        server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        await reader.read()
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()

    horae.run(main())
    before, threads = len(descriptors()), threading.active_count()
    for _ in range(5):
        horae.run(main())
    assert len(descriptors()) <= before and threading.active_count() == threads


def test_io_is_served_while_callbacks_keep_the_loop_busy(loop):
    left, right = socket.socketpair()
    count, got = 0, []

    def busy():
        nonlocal count
        count += 1
        if not got and count < 10_000_000:
            loop.call_soon(busy)
        else:
            loop.stop()

    loop.add_reader(left, lambda: got.append(left.recv(10)))
    loop.call_soon(busy)
    loop.call_soon(right.send, b"x")
    loop.run_forever()
    loop.remove_reader(left)
    left.close(), right.close()
    assert got == [b"x"] and count < 10_000_000


def test_run_again_sees_every_event(either):
    """stop() and run_forever() in turn is how tests single-step a loop; each step looks at the sockets."""
    left, right = socket.socketpair()
    got = []
    either.add_reader(left, lambda: got.append(left.recv(1)))
    for step in range(5):
        right.send(b"x")
        either.call_soon(either.stop)
        either.run_forever()
        assert len(got) == step + 1
    either.remove_reader(left)
    left.close(), right.close()


def test_readers_and_writers(either):
    left, right = socket.socketpair()
    seen = []
    either.add_writer(left, lambda: (seen.append("write"), either.remove_writer(left)))
    either.add_reader(left.fileno(), lambda: (seen.append(left.recv(5)), either.stop()))
    either.call_later(0.005, right.send, b"hello")
    either.run_forever()
    assert seen == ["write", b"hello"]
    assert either.remove_reader(left) and not either.remove_reader(left) and not either.remove_writer(left)
    either.add_reader(left, print)
    either.add_reader(left, seen.append, "replaced")
    left.close(), right.close()
    assert not either.remove_writer(left)
    assert either.remove_reader(left)


def test_async_generators_are_closed():
    closed = []

    async def numbers():
        try:
            while True:
                yield 1
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    async def main():
        async for _ in numbers():
            break
        await asyncio.sleep(0.01)
        abandoned = numbers()
        await anext(abandoned)
        globals()["kept"] = abandoned

    horae.run(main())
    assert closed == [True, True]
    del globals()["kept"]


def test_overridden_time():
    class Own(horae.EventLoop):
        now = 100.0

        def time(self):
            self.now += 0.25
            return self.now

    loop, seen = Own(), []
    handle = loop.call_later(1, seen.append, 1)
    assert handle.when() == 101.25
    loop.call_later(2, loop.stop)
    began = time.monotonic()
    loop.run_forever()
    loop.close()
    assert seen == [1] and time.monotonic() - began < 30


def test_time_assigned_to_the_instance_and_to_the_class(loop, turn, monkeypatch):
    loop.time = lambda: 5000.0
    assert loop.call_later(1, print).when() == 5001
    del loop.time
    assert loop.call_later(1, print).when() < time.monotonic() + 2
    monkeypatch.setattr(horae.EventLoop, "time", lambda self: 7000.0)
    assert loop.call_later(1, print).when() == 7001
    monkeypatch.undo()
    assert loop.call_later(1, print).when() < time.monotonic() + 2


def test_subclasses_that_override():
    class Own(horae.EventLoop):
        calls = turns = 0

        def call_at(self, *args, **kwargs):
            self.calls += 1
            return super().call_at(*args, **kwargs)

        def _run_once(self):
            self.turns += 1
            super()._run_once()

    loop = Own()
    for _ in range(5):
        loop.call_later(0, lambda: None)
    loop.call_later_many([0, 0], lambda: None)
    loop.call_soon(loop.call_later, 0, loop.stop)
    loop.run_forever()
    loop.close()
    assert loop.calls == 8 and loop.turns == 2


def test_a_selector_of_the_users_own():
    selector = selectors.SelectSelector()
    loop = horae.EventLoop(selector)
    assert loop._selector is selector
    left, right = socket.socketpair()
    seen = []
    loop.add_reader(left, lambda: (seen.append(left.recv(1)), loop.stop()))
    thread = threading.Timer(0.01, loop.call_soon_threadsafe, (right.send, b"x"))
    thread.start()
    loop.run_forever()
    loop.remove_reader(left)
    loop.run_until_complete(asyncio.sleep(0.001))
    thread.join()
    loop.close()
    left.close(), right.close()
    assert seen == [b"x"]


def test_looking_at_the_private_views(loop):
    handle, timer = loop.call_soon(print), loop.call_later(10, print)
    assert list(loop._ready) == [handle] and list(loop._scheduled) == [timer]
    assert len(loop._ready) == 1 and loop._scheduled[0] is timer
    assert [key.data[0]._callback for key in loop._selector.get_map().values()] == [loop._read_from_self]
    with pytest.raises(NotImplementedError):
        loop._selector.register(0, 1)


def test_install_makes_it_the_default():
    program = """
import asyncio, horae
horae.install()
async def main():
    return type(asyncio.get_running_loop())
assert asyncio.run(main()) is horae.EventLoop
loop = asyncio.new_event_loop()
assert type(loop) is horae.EventLoop
loop.close()
"""
    run = run_program(program)
    assert (run.returncode, run.stderr) == (0, "")


def test_subprocess_and_pipes():
    async def main():
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", "print(input()[::-1])", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate(b"horae\n")
        return out, process.returncode

    assert horae.run(main()) == (b"earoh\n", 0)
