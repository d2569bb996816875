# SPDX-License-Identifier: Apache-2.0
"""pytest fixtures: coroutines on virtual time. Loaded by pytest by itself once horae is installed.

    def test_gives_up_after_an_hour(horae_run, horae_clock):
        with pytest.raises(TimeoutError):
            horae_run(client.connect(give_up=3600))
        assert horae_clock.time() == 3600
"""

import asyncio

import pytest


@pytest.fixture
def horae_clock():
    """A VirtualClock that starts at 0 and moves to the next timer whenever the loop is idle."""
    from horae import VirtualClock

    return VirtualClock()


@pytest.fixture
def horae_loop(horae_clock):
    """An event loop on `horae_clock`; closed after the test."""
    from horae import EventLoop

    loop = EventLoop(clock=horae_clock)
    yield loop
    loop.close()


@pytest.fixture
def horae_run(horae_clock):
    """A function that runs a coroutine to its end on virtual time and returns its result."""
    from horae import EventLoop

    with asyncio.Runner(loop_factory=lambda: EventLoop(clock=horae_clock)) as runner:
        yield runner.run
