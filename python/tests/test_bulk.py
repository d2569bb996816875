# SPDX-License-Identifier: Apache-2.0
"""call_later_many, cancel_many, metrics."""
import asyncio
import contextvars
import time

import pytest

import horae


def test_many_share_one_now_and_fire_in_order():
    clock = horae.VirtualClock()
    loop, seen = horae.EventLoop(clock=clock), []
    handles = loop.call_later_many([3, 1.5, 2, 0, -1], lambda tag: seen.append((tag, clock.time())), "x")
    assert [handle.when() for handle in handles] == [3, 1.5, 2, 0, -1]
    assert all(isinstance(handle, asyncio.TimerHandle) for handle in handles)
    loop.call_later(4, loop.stop)
    loop.run_forever()
    loop.close()
    assert seen == [("x", 0), ("x", 0), ("x", 1.5), ("x", 2), ("x", 3)]


def test_any_iterable_and_a_context(loop, turn):
    variable = contextvars.ContextVar("many")
    context = contextvars.copy_context()
    loop.call_later_many((0 for _ in range(3)), lambda: variable.set("here"), context=context)
    turn()
    assert context[variable] == "here"
    assert loop.call_later_many([], print) == []


def test_all_or_none(loop):
    for delays, error in (([1, None], TypeError), ([1, "2"], TypeError), ([1, float("nan")], ValueError)):
        with pytest.raises(error):
            loop.call_later_many(delays, print)
        assert loop.metrics()["pending"] == 0


def test_cancel_many_counts_what_was_waiting(loop, turn):
    ran = loop.call_later(0, lambda: None)
    turn()
    handles = loop.call_later_many([10] * 5, print)
    handles[0].cancel()
    assert loop.cancel_many([ran, loop.call_soon(print), *handles]) == 5
    assert loop.metrics()["pending"] == 0
    assert loop.cancel_many(handles) == 0 and loop.cancel_many([]) == 0
    for bad in (5, [5]):
        with pytest.raises((TypeError, AttributeError)):
            loop.cancel_many(bad)


def test_debug_mode_takes_the_long_way(loop):
    loop.set_debug(True)
    handles = loop.call_later_many([1, 2], print)
    assert handles[0]._source_traceback[-1].filename == __file__
    assert loop.cancel_many(handles) == 2 and loop.metrics()["pending"] == 0


def test_metrics_count():
    loop = horae.EventLoop(clock=horae.VirtualClock())
    for delay in range(10):
        loop.call_later(delay, lambda: None)
    loop.call_later(100, print).cancel()
    loop.call_soon(lambda: None)
    assert loop.metrics()["pending"] == 10 and loop.metrics()["ready"] == 1
    loop.call_later(50, loop.stop)
    loop.run_forever()
    metrics = loop.metrics()
    loop.close()
    assert metrics["fired"] == 11 and metrics["cancelled"] == 1 and metrics["pending"] == 0
    assert metrics["callbacks"] == 12 and metrics["turns"] >= 11
    assert sum(metrics["lateness"].values()) == 11 and metrics["worst_lateness"] == 0
    assert metrics["longest_callback"] is None


def test_metrics_measure(loop):
    loop.measure_callbacks = True
    loop.call_later(0, time.sleep, 0.02)
    loop.call_later(0.001, lambda: None)
    loop.call_later(0.03, loop.stop)
    loop.run_forever()
    metrics = loop.metrics()
    assert 0.02 <= metrics["longest_callback"] <= metrics["busy"]
    assert metrics["longest_turn"] >= 0.02 and metrics["worst_lateness"] >= 0.015
    assert metrics["idle"] > 0 and metrics["sleeps"] >= 1
    assert sum(count for bound, count in metrics["lateness"].items() if bound > 0.015) >= 1


def test_stub_names_every_metric(loop):
    import pathlib
    import re

    stub = pathlib.Path(horae.__file__).with_name("__init__.pyi").read_text()
    body = stub.split("class Metrics(TypedDict):")[1].split("class ")[0]
    assert re.findall(r"^    (\w+):", body, re.MULTILINE) == list(loop.metrics())
