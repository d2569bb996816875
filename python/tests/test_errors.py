# SPDX-License-Identifier: Apache-2.0
"""Bad input and failing callbacks: asyncio's errors with asyncio's texts."""
import asyncio
import math
import threading

import pytest

import horae


def texts(action):
    """The error that an action gives on each of the two loops."""
    result = []
    for make in (horae.new_event_loop, asyncio.SelectorEventLoop):
        loop = make()
        try:
            with pytest.raises(Exception) as caught:
                action(loop)
            result.append((type(caught.value), str(caught.value)))
        finally:
            loop.close()
    return result


def debugging(loop):
    loop.set_debug(True)
    return loop


async def coroutine_function():
    pass


def closed(loop):
    loop.close()
    return loop


@pytest.mark.parametrize(
    "action",
    [
        lambda loop: loop.call_later(None, print),
        lambda loop: loop.call_at(None, print),
        lambda loop: loop.call_later("1", print),
        lambda loop: loop.call_later([], print),
        lambda loop: loop.call_later(10**400, print),
        lambda loop: closed(loop).call_soon(print),
        lambda loop: closed(loop).call_later(1, print),
        lambda loop: closed(loop).call_at(1, print),
        lambda loop: closed(loop).call_soon_threadsafe(print),
        lambda loop: closed(loop).run_forever(),
        lambda loop: closed(loop).add_reader(0, print),
        lambda loop: closed(loop).create_task(None),
        lambda loop: debugging(loop).call_soon(7),
        lambda loop: debugging(loop).call_later(1, "no"),
        lambda loop: debugging(loop).call_at(1, None),
        lambda loop: debugging(loop).call_soon_threadsafe(7),
        lambda loop: debugging(loop).call_soon(coroutine_function),
        lambda loop: debugging(loop).call_later(1, coroutine_function),
        lambda loop: loop.add_reader(-1, print),
        lambda loop: loop.add_reader("file", print),
        lambda loop: loop.add_writer(object, print),
        lambda loop: loop.remove_reader(-1),
        lambda loop: loop.add_reader(987654, print),
        lambda loop: loop.run_until_complete(None),
        lambda loop: loop.set_exception_handler(7),
        lambda loop: loop.add_signal_handler(0, print),
        lambda loop: loop.add_signal_handler(9, print),
    ],
)
def test_same_error_as_asyncio(action):
    ours, theirs = texts(action)
    assert ours == theirs


def test_missing_and_unknown_arguments(loop):
    for call in (
        lambda: loop.call_soon(),
        lambda: loop.call_later(1),
        lambda: loop.call_later(),
        lambda: loop.call_at(),
        lambda: loop.call_soon(print, nonsense=1),
        lambda: loop.call_later(1, print, delay=2),
        lambda: loop.call_later_many([1]),
        lambda: loop.call_later_many([1], print, nonsense=1),
        lambda: loop.call_later_many(1, print),
        lambda: loop._add_reader(1),
    ):
        with pytest.raises(TypeError):
            call()
    assert loop.metrics()["pending"] == 0 and loop.metrics()["ready"] == 0


def test_arguments_by_keyword(either):
    either.call_soon(callback=either.stop).cancel()
    either.call_later(delay=1, callback=either.stop).cancel()
    assert either.call_at(when=5, callback=either.stop).when() == 5


@pytest.mark.parametrize("time", [math.nan, -math.nan])
def test_nan_is_a_value_error(loop, time):
    for call in (loop.call_later, loop.call_at, lambda d, f: loop.call_later_many([1, d], f)):
        with pytest.raises(ValueError):
            call(time, print)
    loop.set_debug(True)
    with pytest.raises(ValueError):
        loop.call_later(time, print)
    assert loop.metrics()["pending"] == 0


def test_callbacks_that_are_not_callable_fail_when_run(either):
    errors = []
    either.set_exception_handler(lambda loop, context: errors.append(context))
    handle = either.call_soon(7)
    either.call_soon(either.stop)
    either.run_forever()
    assert isinstance(errors[0]["exception"], TypeError) and errors[0]["handle"] is handle
    assert errors[0]["message"].startswith("Exception in callback 7")


def test_exceptions_go_to_the_handler_and_stop_nothing(either):
    loop, errors, seen = either, [], []

    def fail(value):
        raise ValueError(value)

    loop.set_exception_handler(lambda loop, context: errors.append(context))
    loop.call_soon(fail, 1)
    loop.call_soon(seen.append, "next")
    loop.call_later(0, fail, 2)
    loop.call_later(0.001, loop.stop)
    loop.run_forever()
    assert [error["exception"].args for error in errors] == [(1,), (2,)]
    assert seen == ["next"]
    assert errors[0]["message"].startswith("Exception in callback test_exceptions_go_to_the_handler")
    assert errors[0]["exception"].__traceback__ is not None


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupts_leave_the_loop_and_the_rest_stays_queued(either, kind):
    loop, seen = either, []

    def fail():
        raise kind(3)

    loop.call_soon(seen.append, 1)
    loop.call_soon(fail)
    loop.call_soon(seen.append, 2)
    with pytest.raises(kind):
        loop.run_forever()
    assert seen == [1] and not loop.is_running()
    loop.call_soon(loop.stop)
    loop.run_forever()
    assert seen == [1, 2]


def test_wrong_thread_in_debug_mode(either):
    loop, errors = either, []
    loop.set_debug(True)

    def elsewhere():
        for call in (lambda: loop.call_soon(print), lambda: loop.call_later(1, print), lambda: loop.call_at(1, print)):
            try:
                call()
            except RuntimeError as error:
                errors.append(str(error))
        loop.call_soon_threadsafe(loop.stop)

    thread = threading.Thread(target=elsewhere)
    loop.call_soon(thread.start)
    loop.run_forever()
    thread.join()
    text = "Non-thread-safe operation invoked on an event loop other than the current one"
    assert errors == [text] * 3


def test_running_twice(either):
    errors = []

    def inside():
        for call in (either.run_forever, either.close, lambda: either.run_until_complete(asyncio.sleep(0))):
            try:
                result = call()
            except RuntimeError as error:
                errors.append(str(error))
        either.stop()

    either.call_soon(inside)
    with pytest.warns(RuntimeWarning):
        either.run_forever()
        import gc

        gc.collect()
    assert errors == ["This event loop is already running", "Cannot close a running event loop",
                      "This event loop is already running"]


def test_close_in_every_state(loop):
    loop.close()
    loop.close()
    assert loop.is_closed() and not loop.is_running()
    fresh = horae.new_event_loop()
    fresh.call_soon(print), fresh.call_later(1, print)
    fresh.close()
    assert list(fresh._ready) == [] and list(fresh._scheduled) == []
    loop.stop()
    assert loop.get_debug() is False and loop.time() > 0 and loop.metrics()["pending"] == 0
