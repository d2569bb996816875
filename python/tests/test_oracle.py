# SPDX-License-Identifier: Apache-2.0
"""Random programs on virtual time, beside asyncio: the same callbacks in the same order at the same times."""
import asyncio
import contextvars
import os
import random

import pytest

import horae

SEEDS = int(os.environ.get("HORAE_ORACLE_SEEDS", "60"))
variable = contextvars.ContextVar("variable", default=0)


class OracleLoop(asyncio.SelectorEventLoop):
    """asyncio's own loop on virtual time: when it would sleep, its clock jumps."""

    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        pending = [handle._when for handle in self._scheduled if not handle._cancelled]
        if not self._ready and pending:
            self.now = max(self.now, min(pending))
        super()._run_once()


class Program:
    """A random tree of callbacks and tasks. Decisions come from a generator per callback, so that both
    loops run the same program as long as they call the same callbacks."""

    def __init__(self, loop, seed, budget=300):
        self.loop, self.seed, self.budget = loop, seed, budget
        self.log, self.times, self.handles, self.made = [], [], [], 0

    def unique_delay(self, dice):
        # Distinct deadlines: asyncio leaves the order of equal ones open.
        return dice.choice([0, 0.001, 0.5, 1, 7, 60, 3600]) + dice.uniform(1e-6, 1e-3)

    def spawn(self, dice):
        name, kind = self.made, dice.randrange(8)
        self.made += 1
        loop = self.loop
        if kind <= 2:
            self.handles.append(loop.call_soon(self.callback, name))
        elif kind == 3:
            self.handles.append(loop.call_later(self.unique_delay(dice), self.callback, name))
        elif kind == 4:
            self.handles.append(loop.call_at(loop.time() + self.unique_delay(dice), self.callback, name))
        elif kind == 5:
            self.handles.append(loop.call_soon_threadsafe(self.callback, name))
        elif kind == 6:
            loop.create_task(self.task(name))
        else:
            context = contextvars.copy_context()
            context.run(variable.set, name)
            self.handles.append(loop.call_later(self.unique_delay(dice), self.callback, name, context=context))

    def act(self, name, dice):
        self.log.append((name, variable.get()))
        self.times.append(self.loop.time())
        if dice.random() < 0.3:
            variable.set(name)
        for _ in range(dice.randrange(4)):
            if self.budget > 0:
                self.budget -= 1
                self.spawn(dice)
        if self.handles and dice.random() < 0.4:
            handle = dice.choice(self.handles)
            self.log.append(("cancel", handle.cancelled()))
            handle.cancel()

    def callback(self, name):
        dice = random.Random(self.seed * 1_000_003 + name)
        self.act(name, dice)
        if dice.random() < 0.05:
            raise ValueError(name)

    async def task(self, name):
        dice = random.Random(self.seed * 1_000_003 + name)
        self.act(name, dice)
        for _ in range(dice.randrange(3)):
            await asyncio.sleep(dice.choice([0, self.unique_delay(dice)]))
            self.act(name, dice)
        try:
            async with asyncio.timeout(self.unique_delay(dice)):
                await asyncio.sleep(self.unique_delay(dice))
        except TimeoutError:
            self.log.append((name, "timeout"))

    def run(self):
        self.loop.set_exception_handler(lambda loop, context: self.log.append(("error", str(context["exception"]))))
        dice = random.Random(self.seed)
        for _ in range(5):
            self.spawn(dice)
        self.loop.call_later(1e6, self.loop.stop)
        self.loop.run_forever()
        self.loop.close()
        return self


@pytest.mark.parametrize("debug", [False, True])
def test_random_programs(debug):
    first = int(os.environ.get("HORAE_ORACLE_FIRST", "0"))
    events = 0
    for seed in range(first, first + (SEEDS if not debug else SEEDS // 5)):
        runs = []
        for loop in (OracleLoop(), horae.EventLoop(clock=horae.VirtualClock())):
            loop.set_debug(debug)
            loop.slow_callback_duration = float("inf")
            runs.append(Program(loop, seed).run())
        theirs, ours = runs
        assert ours.log == theirs.log, f"seed {seed}"
        # Ours are whole nanoseconds, rounded up at each step.
        assert ours.times == pytest.approx(theirs.times, abs=1e-6), f"seed {seed}"
        events += len(ours.log)
    assert events > 20 * SEEDS // 5


def test_the_oracle_notices_a_difference():
    """A loop that reorders two callbacks is found out."""

    class Reordering(horae.EventLoop):
        def call_later(self, delay, callback, *args, context=None):
            return super().call_later(delay + (0.25 if delay > 1 else 0), callback, *args, context=context)

    differing = 0
    for seed in range(10):
        theirs = Program(OracleLoop(), seed).run().log
        differing += theirs != Program(Reordering(clock=horae.VirtualClock()), seed).run().log
    assert differing >= 5


def test_equal_deadlines_keep_their_order_where_asyncio_does_not_promise_it():
    loop, seen = horae.EventLoop(clock=horae.VirtualClock()), []
    dice = random.Random(7)
    whens = [dice.choice([1, 2, 3]) for _ in range(1000)]
    for index, when in enumerate(whens):
        loop.call_at(when, seen.append, (when, index))
    loop.call_at(4, loop.stop)
    loop.run_forever()
    loop.close()
    assert seen == sorted((when, index) for index, when in enumerate(whens))
