# SPDX-License-Identifier: Apache-2.0
"""Virtual time: hours in milliseconds, by itself or by hand, and not while threads work."""
import asyncio
import math
import threading
import time

import pytest

import horae

pytest_plugins = ["pytester"]


def test_a_one_hour_back_off_takes_no_time(horae_run, horae_clock):
    async def back_off():
        delay, attempts = 1, 0
        while horae_clock.time() < 3600:
            attempts += 1
            await asyncio.sleep(delay)
            delay *= 2
        return attempts

    assert horae_run(back_off()) == 12
    assert horae_clock.time() == 4095 and horae_clock.time_ns() == 4095 * 10**9


def test_order_is_that_of_real_time(horae_run, horae_clock):
    seen = []

    async def worker(name, period):
        for _ in range(3):
            await asyncio.sleep(period)
            seen.append((horae_clock.time(), name))

    async def main():
        await asyncio.gather(worker("a", 2), worker("b", 3))

    horae_run(main())
    assert seen == [(2, "a"), (3, "b"), (4, "a"), (6, "b"), (6, "a"), (9, "b")]


def test_by_hand():
    clock = horae.VirtualClock(auto_advance=False)
    loop, seen = horae.EventLoop(clock=clock), []

    def turn():
        loop.call_soon(loop.stop)
        loop.run_forever()

    loop.call_later(1, seen.append, 1)
    loop.call_later(2, seen.append, 2)
    turn()
    assert seen == []
    clock.advance(0.999999999)
    turn()
    assert seen == []
    clock.advance(1e-9)
    turn()
    assert seen == [1]
    clock.advance_to(10)
    turn()
    assert seen == [1, 2] and loop.time() == 10
    loop.close()


def test_by_hand_from_another_thread_wakes_the_loop():
    clock = horae.VirtualClock(auto_advance=False)
    loop = horae.EventLoop(clock=clock)
    loop.call_later(3600, loop.stop)
    thread = threading.Timer(0.02, clock.advance, (3600,))
    thread.start()
    loop.run_forever()
    thread.join()
    loop.close()
    assert clock.time() == 3600


def test_time_stands_still_for_threads(horae_run, horae_clock):
    async def main():
        async with asyncio.timeout(10):
            await asyncio.to_thread(time.sleep, 0.05)
        return horae_clock.time()

    assert horae_run(main()) == 0


def test_sockets_come_before_timers(horae_run, horae_clock):
    async def main():
        async def echo(reader, writer):
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"hello\n")
        line = await asyncio.wait_for(reader.readline(), 3600)
        writer.close()
        server.close()
        return line

    assert horae_run(main()) == b"hello\n"


def test_bad_values():
    clock = horae.VirtualClock(5)
    for call in (lambda: clock.advance(-1), lambda: clock.advance_to(4), lambda: clock.advance(math.nan),
                 lambda: clock.advance(math.inf), lambda: horae.VirtualClock(math.inf)):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        clock.advance("1")
    with pytest.raises(TypeError):
        horae.EventLoop(clock=time)
    assert clock.time() == 5 and "5.0" in repr(clock)


def test_two_loops_on_one_clock():
    clock = horae.VirtualClock()
    for _ in range(2):
        with asyncio.Runner(loop_factory=lambda: horae.EventLoop(clock=clock)) as runner:
            runner.run(asyncio.sleep(10))
    assert clock.time() == 20


def test_the_fixtures_as_a_user_meets_them(pytester):
    pytester.makepyfile(
        """
        import asyncio

        def test_run(horae_run, horae_clock):
            horae_run(asyncio.sleep(3600))
            assert horae_clock.time() == 3600

        def test_loop(horae_loop, horae_clock):
            horae_loop.run_until_complete(asyncio.sleep(5))
            assert horae_clock.time() == 5
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)
