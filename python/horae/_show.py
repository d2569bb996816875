# SPDX-License-Identifier: Apache-2.0
"""What `python -m horae` shows: a self-check, a small benchmark table, a demo."""

import asyncio
import importlib.util
import random
import statistics
import time

from . import EventLoop, VirtualClock, new_event_loop


async def _check_timers():
    loop = asyncio.get_running_loop()
    order, early = [], 0

    def fire(index, when):
        nonlocal early
        early += loop.time() < when
        order.append(index)

    for index in range(100):
        when = loop.time() + index // 10 / 1000
        loop.call_at(when, fire, index, when)
    await asyncio.sleep(0.02)
    return order == sorted(order) and len(order) == 100 and not early


async def _check_timeout():
    try:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(3600)
    except TimeoutError:
        return True


async def _check_threads():
    return await asyncio.to_thread(lambda: 42) == 42


async def _check_sockets():
    async def echo(reader, writer):
        writer.write(await reader.readline())
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"hello\n")
        answer = await reader.read()
        writer.close()
    return answer == b"hello\n"


def _check_virtual_time():
    clock, started = VirtualClock(), time.monotonic()
    with asyncio.Runner(loop_factory=lambda: EventLoop(clock=clock)) as runner:
        runner.run(asyncio.sleep(3600))
    return clock.time() == 3600 and time.monotonic() - started < 60


def self_check():
    """Run each check on a real loop; returns the number that failed."""
    checks = {
        "timers fire in order, none early": _check_timers,
        "timeouts": _check_timeout,
        "threads": _check_threads,
        "sockets": _check_sockets,
    }
    results = {}
    for name, check in checks.items():
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            results[name] = runner.run(check())
    results["an hour of virtual time"] = _check_virtual_time()
    for name, passed in results.items():
        print(f"  {'ok    ' if passed else 'FAILED'} {name}")
    return sum(not passed for passed in results.values())


def _per_item(count, work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) / count * 1e9


def _turn(loop):
    loop.call_soon(loop.stop)
    loop.run_forever()


def _measure(factory):
    """ns per operation: call_soon, call_later, cancel, expire, sleep(0)."""
    loop, count, result = factory(), 20_000, {}

    def nothing():
        pass

    def call_soon():
        for _ in range(count):
            loop.call_soon(nothing)
        _turn(loop)

    handles, delays = [], [random.uniform(0.01, 1) for _ in range(count)]

    async def yields():
        for _ in range(count):
            await asyncio.sleep(0)

    result["call_soon and run"] = _per_item(count, call_soon)
    result["await sleep(0)"] = _per_item(count, lambda: loop.run_until_complete(yields()))
    result["call_later"] = _per_item(count, lambda: handles.extend(loop.call_later(d, nothing) for d in delays))
    result["cancel"] = _per_item(count, lambda: [handle.cancel() for handle in handles])
    for _ in range(count):
        loop.call_later(0.001, nothing)
    time.sleep(0.01)
    result["expire"] = _per_item(count, lambda: _turn(loop))
    loop.close()
    return result


def small_table():
    """ns per operation beside asyncio, and uvloop where it is installed; medians of five."""
    rivals = {"horae": new_event_loop, "asyncio": asyncio.SelectorEventLoop}
    if importlib.util.find_spec("uvloop"):
        import uvloop

        rivals["uvloop"] = uvloop.new_event_loop
    samples = {name: [] for name in rivals}
    for _ in range(5):
        for name, factory in rivals.items():
            samples[name].append(_measure(factory))
    print(f"\n  {'ns per operation':<20}" + "".join(f"{name:>10}" for name in rivals))
    for row in samples["horae"][0]:
        cells = (statistics.median(sample[row] for sample in samples[name]) for name in rivals)
        print(f"  {row:<20}" + "".join(f"{cell:>10,.0f}" for cell in cells))


def demo(count=100_000, seconds=2.0):
    """Timers all over the next seconds, a third of them cancelled; then what became of them."""
    loop = new_event_loop()
    early = fired = 0

    def fire(when):
        nonlocal early, fired
        fired += 1
        early += loop.time() < when

    started = time.perf_counter()
    handles = []
    for _ in range(count):
        when = loop.time() + random.uniform(0.05, seconds)
        handles.append(loop.call_at(when, fire, when))
    registered = time.perf_counter() - started
    cancelled = loop.cancel_many(random.sample(handles, count // 3))
    print(f"  {count:,} timers registered in {registered * 1000:.0f} ms, {cancelled:,} cancelled; running {seconds:g} s")
    loop.call_later(seconds + 0.05, loop.stop)
    loop.run_forever()
    metrics = loop.metrics()
    lost = count - cancelled - fired
    print(f"  fired {fired:,}   cancelled {cancelled:,}   early {early}   lost {lost}")
    _histogram(metrics["lateness"])
    busy = metrics["busy"] / (metrics["busy"] + metrics["idle"])
    print(f"  {metrics['sleeps']:,} sleeps, busy {busy:.0%} of the time")
    loop.close()
    return 1 if early or lost else 0


def _histogram(lateness):
    print("  how late:")
    most = max(lateness.values(), default=1)
    for bound, number in sorted(lateness.items()):
        if number * 200 >= most:
            print(f"  up to {bound * 1e6:>8,.0f} us {'#' * max(1, number * 40 // most)} {number:,}")
