# SPDX-License-Identifier: Apache-2.0
import asyncio
import gc

import pytest

import horae


@pytest.fixture
def loop():
    loop = horae.new_event_loop()
    yield loop
    if not loop.is_closed():
        loop.close()


@pytest.fixture
def turn(loop):
    """Runs exactly one turn of the loop."""

    def one_turn():
        loop.call_soon(loop.stop)
        loop.run_forever()

    return one_turn


@pytest.fixture(params=["horae", "asyncio"])
def either(request):
    """The same test on asyncio's own loop, which shows that the test says what asyncio does."""
    loop = horae.new_event_loop() if request.param == "horae" else asyncio.SelectorEventLoop()
    yield loop
    if not loop.is_closed():
        loop.close()


@pytest.fixture(autouse=True)
def no_leftovers():
    yield
    gc.collect()
