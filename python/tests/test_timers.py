# SPDX-License-Identifier: Apache-2.0
"""Timers: order, exactness, odd times."""
import asyncio
import fractions
import math
import random
import selectors

import pytest

import horae


def virtual():
    clock = horae.VirtualClock()
    return clock, horae.EventLoop(clock=clock)


def test_equal_deadlines_fire_in_order():
    clock, loop = virtual()
    seen = []
    for index in range(1000):
        loop.call_at(1.5, seen.append, index)
    loop.call_at(2, loop.stop)
    loop.run_forever()
    loop.close()
    assert seen == list(range(1000))


def test_never_early_by_the_loops_own_clock(loop):
    early = []

    def check(when):
        early.append(loop.time() < when)

    for _ in range(300):
        when = loop.time() + random.random() * 0.05
        loop.call_at(when, check, when)
    loop.call_later(0.06, loop.stop)
    loop.run_forever()
    assert len(early) == 300 and not any(early)


@pytest.mark.parametrize("uptime", [0, 1, 104 * 86400 + 0.1, 194 * 86400, 194.2 * 86400 + 1 / 3, 3e8, 9e9])
def test_exact_however_long_the_machine_is_up(uptime):
    """A double loses single nanoseconds after 104 days; nothing may fire early, hang or spin."""
    clock = horae.VirtualClock(uptime)
    loop = horae.EventLoop(clock=clock)
    late = []

    def check(when):
        assert loop.time() >= when
        late.append(clock.time_ns() - when * 1e9)

    for delay in [0, 1e-9, 1e-6, 0.1, 1 / 3, 1000.0000001, *(random.random() for _ in range(100))]:
        when = loop.time() + delay
        loop.call_at(when, check, when)
    loop.call_later(2000, loop.stop)
    loop.run_forever()
    turns = loop.metrics()["turns"]
    loop.close()
    assert len(late) == 106 and turns < 1000
    spacing = max(1, math.ulp(uptime + 2000) * 1e9)
    assert max(late) <= 4 * spacing


def test_negative_and_zero_delays_run_in_the_next_turn(either):
    loop, seen = either, []
    loop.call_later(-5, seen.append, "past")
    loop.call_later(0, seen.append, "now")
    loop.call_later(-math.inf, seen.append, "ever")
    loop.call_later(0, loop.stop)
    loop.run_forever()
    assert sorted(seen) == ["ever", "now", "past"]


def test_infinity_never_fires_and_can_be_cancelled(either):
    loop, seen = either, []
    never = loop.call_later(math.inf, seen.append, 1)
    at = loop.call_at(math.inf, seen.append, 2)
    huge = loop.call_later(1e300, seen.append, 3)
    assert never.when() == at.when() == math.inf and huge.when() == 1e300
    loop.call_later(0.002, loop.stop)
    loop.run_forever()
    for handle in (never, at, huge):
        handle.cancel()
    assert seen == []


@pytest.mark.parametrize("delay", [2**31, 2**53, 2**63, 2**64, 10**300, float(2**63), 9.3e9, 1e18])
def test_huge_values_do_not_overflow(either, delay):
    handle = either.call_later(delay, lambda: None)
    assert handle.when() >= delay
    either.call_soon(either.stop)
    either.run_forever()


def test_when_is_what_was_asked(either):
    assert either.call_at(12345.678901234567, print).when() == 12345.678901234567
    before = either.time()
    when = either.call_later(10, print).when()
    assert before + 10 <= when <= either.time() + 10


def test_delays_of_other_number_types(either):
    now = either.time()
    for delay in (5, True, fractions.Fraction(5, 2)):
        assert now + delay <= either.call_later(delay, print).when() <= either.time() + delay


def test_a_zero_timer_that_arms_itself_does_not_starve_others(loop):
    seen = []

    def again():
        seen.append(len(seen))
        loop.call_later(0, again)

    again()
    loop.call_soon(loop.call_soon, loop.call_soon, loop.stop)
    loop.run_forever()
    assert 1 <= len(seen) <= 6


def test_a_timer_armed_in_a_callback_fires_in_a_later_turn(loop):
    seen = []

    def first():
        loop.call_at(0, seen.append, "armed")
        loop.call_soon(seen.append, "soon")
        seen.append("first")

    loop.call_soon(first)
    loop.call_soon(loop.stop)
    loop.run_forever()
    assert seen == ["first"]


def test_stop_lets_the_turn_finish(either):
    loop, seen = either, []
    loop.call_soon(loop.stop)
    loop.call_soon(seen.append, 1)
    loop.call_soon(loop.call_soon, seen.append, 2)
    loop.run_forever()
    assert seen == [1]
    loop.call_soon(loop.stop)
    loop.run_forever()
    assert seen == [1, 2]


def test_stop_before_running_makes_one_turn(either):
    loop, seen = either, []
    loop.stop()
    loop.call_soon(seen.append, 1)
    loop.run_forever()
    assert seen == [1]


def test_slack_bounds_lateness_and_is_checked(loop):
    assert loop.timer_slack == pytest.approx(0.001)
    loop.timer_slack = 0
    assert loop.timer_slack == 0
    for bad in (-1, math.nan, math.inf, 1e6):
        with pytest.raises(ValueError):
            loop.timer_slack = bad
    with pytest.raises(ValueError):
        horae.EventLoop(timer_slack=-1)


class SleepingSelector(selectors.SelectSelector):
    """Does not wait: moves the time of its loop instead, and counts the waits."""

    sleeps, loop = 0, None

    def select(self, timeout=None):
        if timeout:
            self.sleeps += 1
            self.loop.now += timeout
        return super().select(0)


class SimulatedLoop(horae.EventLoop):
    now = 1000.0

    def time(self):
        return self.now


def simulate(rate, slack, count=2000):
    """Timers at an even rate: how many sleeps they took, and by how much each was late."""
    selector = SleepingSelector()
    loop = SimulatedLoop(selector, timer_slack=slack)
    selector.loop = loop
    late = []
    for index in range(count):
        when = 1000 + (index + 1) / rate
        loop.call_at(when, lambda when=when: late.append(loop.now - when))
    loop.call_at(1000 + (count + 10) / rate, loop.stop)
    loop.run_forever()
    loop.close()
    # An overridden time() is rounded to whole nanoseconds as deadlines are, so that time() == when() is due.
    assert len(late) == count and min(late) > -1.001e-9
    return selector.sleeps, max(late)


def test_slack_lets_a_crowd_share_wake_ups():
    sleeps, late = simulate(5000, 0.001)
    assert sleeps < 2000 / 4 + 50 and late <= 0.001 + 1e-6
    sleeps, late = simulate(100_000, 0.001)
    assert sleeps < 2000 / 80 + 50 and late <= 0.001 + 1e-6


def test_slack_leaves_few_timers_alone():
    sleeps, late = simulate(1500, 0.001)
    assert sleeps >= 2000 and late < 1e-6


def test_without_slack_each_has_its_own():
    sleeps, late = simulate(20_000, 0)
    assert sleeps >= 2000 and late < 1e-6


def test_sleep_gather_timeout_taskgroup(horae_run, horae_clock):
    async def main():
        assert await asyncio.gather(*(asyncio.sleep(i, i) for i in (3, 1, 2))) == [3, 1, 2]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.sleep(10)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.sleep(10), 1)
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(1))
            group.create_task(asyncio.sleep(2))
        return asyncio.get_running_loop().time()

    assert horae_run(main()) == 3 + 5 + 1 + 2 == horae_clock.time()
