# SPDX-License-Identifier: Apache-2.0
"""Handles: what asyncio's have, ours have; and cancel() lets go of everything at once."""
import asyncio
import gc
import weakref

import pytest


class Target:
    def __call__(self, *args):
        pass


def nothing(*args):
    pass


def test_cancel_releases_callback_arguments_and_context_at_once(loop):
    import contextvars

    for schedule in (lambda *a, **k: loop.call_later(1000, *a, **k), loop.call_soon):
        callback, argument, second = Target(), Target(), Target()
        context = contextvars.copy_context()
        probes = [weakref.ref(item) for item in (callback, argument, second, context)]
        handle = schedule(callback, argument, second, context=context)
        del callback, argument, second, context
        assert all(probe() is not None for probe in probes)
        handle.cancel()
        assert [probe() for probe in probes] == [None] * 4


def test_running_releases_them_too(loop, turn):
    argument = Target()
    probe = weakref.ref(argument)
    handle = loop.call_soon(nothing, argument)
    del argument
    turn()
    assert probe() is None
    assert not handle.cancelled()


def test_closing_releases_what_is_pending(loop):
    targets = [Target() for _ in range(3)]
    probes = [weakref.ref(item) for item in targets]
    handles = [loop.call_later(1000, targets[0]), loop.call_soon(targets[1]), loop.call_at(float("inf"), targets[2])]
    del targets
    loop.close()
    assert [probe() for probe in probes] == [None] * 3
    for handle in handles:
        assert not handle.cancelled()
        handle.cancel()
        assert handle.cancelled()


def test_every_state_answers(either):
    loop = either
    fired = loop.call_later(0, nothing)
    cancelled = loop.call_later(1, nothing)
    cancelled.cancel()
    pending = loop.call_later(1000, nothing)
    loop.call_later(0.001, loop.stop)
    loop.run_forever()
    when = [handle.when() for handle in (fired, cancelled, pending)]
    assert when == sorted(when)
    for handle in (fired, cancelled, pending):
        repr(handle), hash(handle), handle.cancelled(), handle == fired, handle < pending
        handle.cancel()
        handle.cancel()
        assert handle.cancelled()
    loop.close()
    assert [handle.when() for handle in (fired, cancelled, pending)] == when
    for handle in (fired, cancelled, pending):
        repr(handle)
        handle.cancel()


def test_isinstance_and_weakref(either):
    soon, later = either.call_soon(nothing), either.call_later(10, nothing)
    assert isinstance(soon, asyncio.Handle) and not isinstance(soon, asyncio.TimerHandle)
    assert isinstance(later, asyncio.TimerHandle) and isinstance(later, asyncio.Handle)
    assert weakref.ref(soon)() is soon and weakref.ref(later)() is later


def test_repr_as_asyncio(either):
    loop = either
    soon, later = loop.call_soon(nothing, 1), loop.call_at(123.5, nothing)
    where = f"{__file__}:{nothing.__code__.co_firstlineno}"
    assert repr(soon) in (f"<Handle nothing(1) at {where}>", f"<Handle nothing() at {where}>")
    assert repr(later) == f"<TimerHandle when=123.5 nothing() at {where}>"
    soon.cancel()
    later.cancel()
    assert repr(soon) == "<Handle cancelled>"
    assert repr(later) == "<TimerHandle cancelled when=123.5>"


def test_comparison_as_asyncio(either):
    first, same, second = either.call_at(10, nothing), either.call_at(10, nothing), either.call_at(20, nothing)
    assert first < second and first <= second and second > first and second >= first
    assert first == same and first != second and hash(first) == hash(same) == hash(10)
    assert first <= same and first >= same
    assert first != 10
    with pytest.raises(TypeError):
        first < 10


def test_private_attributes(loop):
    handle = loop.call_later(5, nothing, 1, 2)
    assert handle._callback is nothing and handle._args == (1, 2) and handle._loop is loop
    assert handle._scheduled and handle._when == handle.when()
    assert loop.call_soon(nothing, 7)._args == (7,) and loop.call_soon(nothing)._args == ()
    handle.cancel()
    assert handle._callback is None and handle._args is None and not handle._scheduled


def test_cannot_be_made_by_hand():
    from horae import _core

    for cls in (_core.Handle, _core.TimerHandle):
        with pytest.raises(TypeError):
            cls()


def test_cancel_inside_its_own_callback(either):
    loop, seen, argument = either, [], Target()

    def callback(given):
        handle.cancel()
        gc.collect()
        seen.append(given is argument)
        loop.stop()

    handle = loop.call_later(0, callback, argument)
    loop.run_forever()
    assert seen == [True] and handle.cancelled()


def test_cancelling_one_that_is_due_in_the_same_turn(either):
    loop, seen = either, []
    now = loop.time()
    second = None

    def first():
        seen.append("first")
        second.cancel()

    loop.call_at(now, first)
    second = loop.call_at(now + 1e-6, seen.append, "second")
    loop.call_at(now + 2e-6, loop.stop)
    while loop.time() < now + 1e-5:
        pass
    loop.run_forever()
    assert seen == ["first"]


def test_a_callback_that_dies_with_its_handle_may_use_the_loop(loop):
    class Tricky(Target):
        def __del__(self):
            made.append(loop.call_later(1000, nothing))
            made[-1].cancel()
            made.append(loop.call_later(1000, nothing))

    made = []
    for _ in range(100):
        loop.call_later(1000, Tricky()).cancel()
    assert len(made) == 200 and loop.metrics()["pending"] == 100
    loop.call_later(1000, Tricky())
    loop._clear_scheduled()
    assert len(made) == 202
