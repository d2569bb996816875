"""What `./horae bench python` measures, on one loop in one process: prints a JSON line for each figure.

usage: python_workloads.py LOOP GROUP [--echo-client PROGRAM] [--scale X]
"""
import argparse
import asyncio
import gc
import json
import random
import subprocess
import sys
import threading
import time

import tracemalloc


def factory(name):
    if name == "horae":
        import horae

        return horae.new_event_loop
    if name == "uvloop":
        import uvloop

        return uvloop.new_event_loop
    return asyncio.SelectorEventLoop


def nothing(*args):
    pass


def turn(loop):
    loop.call_soon(loop.stop)
    loop.run_forever()


def timed(work):
    gc.collect()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Bench:
    def __init__(self, name, scale, echo_client):
        self.name, self.new, self.scale, self.echo_client = name, factory(name), scale, echo_client
        self.dice = random.Random(42)

    def emit(self, workload, value, unit, better="less"):
        print(json.dumps(dict(loop=self.name, workload=workload, value=value, unit=unit, better=better)), flush=True)

    def size(self, count):
        return max(100, int(count * self.scale))

    # callbacks

    def group_callbacks(self):
        self.call_soon("call_soon 50k", self.size(50_000))
        self.call_soon("call_soon 1M", self.size(1_000_000))
        self.chain(self.size(100_000))
        self.yields(self.size(100_000))
        self.threadsafe_burst(self.size(100_000))
        self.threadsafe_latency(self.size(3_000))

    def call_soon(self, workload, count):
        loop = self.new()

        def work():
            call_soon = loop.call_soon
            for _ in range(count):
                call_soon(nothing)
            turn(loop)

        self.emit(workload, timed(work) / count * 1e9, "ns")
        loop.close()

    def chain(self, count):
        loop, left = self.new(), count

        def again():
            nonlocal left
            left -= 1
            if left:
                loop.call_soon(again)
            else:
                loop.stop()

        loop.call_soon(again)
        self.emit("call_soon chain", timed(loop.run_forever) / count * 1e9, "ns")
        loop.close()

    def yields(self, count):
        async def main():
            for _ in range(count):
                await asyncio.sleep(0)

        loop = self.new()
        self.emit("sleep(0)", timed(lambda: loop.run_until_complete(main())) / count * 1e9, "ns")
        loop.close()

    def threadsafe_burst(self, count):
        loop = self.new()

        def work():
            call = loop.call_soon_threadsafe
            for _ in range(count):
                call(nothing)
            turn(loop)

        self.emit("call_soon_threadsafe burst", timed(work) / count * 1e9, "ns")
        loop.close()

    def threadsafe_latency(self, count):
        """From the call in one thread to the callback in the loop's, which sleeps in between."""
        loop, took = self.new(), []
        answered = threading.Event()

        def receive(began):
            took.append(time.perf_counter() - began)
            answered.set()

        def send():
            for _ in range(count):
                answered.clear()
                time.sleep(0.0001)
                loop.call_soon_threadsafe(receive, time.perf_counter())
                answered.wait()
            loop.call_soon_threadsafe(loop.stop)

        thread = threading.Thread(target=send)
        thread.start()
        loop.run_forever()
        thread.join()
        loop.close()
        self.emit("call_soon_threadsafe latency p50", sorted(took)[count // 2] * 1e6, "us")

    # timers

    def group_timers(self):
        for label, count, low, high in (("100k, 10-1000 ms", 100_000, 0.01, 1), ("1M, 10-1000 ms", 1_000_000, 0.01, 1),
                                        ("100k, 1 h", 100_000, 3600, 3600)):
            self.register(label, self.size(count), low, high)
        self.churn(self.size(300_000))
        self.expire(self.size(100_000))
        self.bulk(self.size(100_000))

    def register(self, label, count, low, high):
        loop = self.new()
        turn(loop)
        delays, handles = [self.dice.uniform(low, high) for _ in range(count)], []

        def register():
            call_later, keep = loop.call_later, handles.append
            for delay in delays:
                keep(call_later(delay, nothing))

        def cancel():
            for handle in handles:
                handle.cancel()

        self.emit(f"call_later {label}", timed(register) / count * 1e9, "ns")
        self.emit(f"cancel {label}", timed(cancel) / count * 1e9, "ns")
        loop.close()

    def churn(self, count):
        """Register and cancel, as timeouts do, and let the loop drain what that left behind."""
        loop = self.new()

        def work():
            for start in range(0, count, 10_000):
                handles = [loop.call_later(30, nothing) for _ in range(10_000)]
                for handle in handles:
                    handle.cancel()
                turn(loop)

        self.emit("register+cancel+drain", timed(work) / count * 1e9, "ns")
        loop.close()

    def expire(self, count):
        """Timers that are all due already; the last one to fire ends the run."""
        loop, left = self.new(), count
        turn(loop)

        def fire():
            nonlocal left
            left -= 1
            if not left:
                loop.stop()

        began = time.monotonic()
        for _ in range(count):
            loop.call_later(self.dice.uniform(0, 0.001), fire)
        while time.monotonic() < began + 0.01:
            time.sleep(0.001)
        self.emit("expire 100k", timed(loop.run_forever) / count * 1e9, "ns")
        loop.close()

    def bulk(self, count):
        loop = self.new()
        if not hasattr(loop, "call_later_many"):
            return loop.close()
        delays = [self.dice.uniform(0.01, 1) for _ in range(count)]
        self.emit("call_later_many 100k", timed(lambda: loop.call_later_many(delays, nothing)) / count * 1e9, "ns")
        loop.close()

    # memory: a process of its own, in which nothing was freed before

    def group_memory(self):
        count = self.size(100_000)
        loop = self.new()
        turn(loop)
        handles = [None] * count  # what the caller keeps is not the loop's
        gc.collect()
        before = resident()
        for index in range(count):
            handles[index] = loop.call_later(3600, nothing)
        self.emit("bytes per pending timer", (resident() - before) / count, "B")
        loop.close()

    # delays

    def group_delays(self):
        for count in (100, 1_000, 10_000):
            self.table(f"{count:,} timers of 0-9 ms", count, [i % 10 / 1000 for i in range(count)])
        for count in (100, 500, 1_000, 5_000):
            delays = [0.01 + 0.99 * i / count for i in range(count)]
            self.table(f"{count:,} timers of 10-1000 ms", count, delays, cpu=True)
        self.lateness(self.size(4_000), "")
        if self.name == "horae":
            self.lateness(self.size(4_000), ", timer_slack=0", timer_slack=0)

    def table(self, workload, count, delays, cpu=False):
        loop, left = self.new(), count

        def fire():
            nonlocal left
            left -= 1
            if not left:
                loop.stop()

        def work():
            for delay in delays:
                loop.call_later(delay, fire)
            loop.run_forever()

        used = time.process_time()
        self.emit(workload, timed(work) * 1e3, "ms")
        if cpu:
            self.emit(f"{workload}, CPU", (time.process_time() - used) * 1e3, "ms")
        loop.close()

    def lateness(self, count, label, **options):
        """2,000 timers a second; each says by how much time.monotonic() was past its own deadline."""
        loop, late = self.new(), []
        for name, value in options.items():
            setattr(loop, name, value)

        def fire(deadline):
            late.append(time.monotonic() - deadline)

        for _ in range(count):
            delay = self.dice.uniform(0.01, count / 2_000)
            loop.call_later(delay, fire, time.monotonic() + delay)
        loop.call_later(count / 2_000 + 0.05, loop.stop)
        loop.run_forever()
        loop.close()
        late.sort()
        self.emit(f"lateness p50{label}", max(0, late[len(late) // 2]) * 1e6, "us")
        self.emit(f"lateness p99{label}", max(0, late[len(late) * 99 // 100]) * 1e6, "us")
        # The deadline above was taken just after the loop took its own: allow for that.
        self.emit(f"fired early{label}", sum(value < -50e-6 for value in late), "timers")

    # tasks

    def group_tasks(self):
        count = self.size(10_000)

        async def sleeps():
            await asyncio.gather(*(asyncio.sleep(0.05) for _ in range(count)))

        self.coroutine("10k concurrent sleeps of 50 ms", sleeps, 1e-6, "ms", 1)
        rounds = self.size(50_000)

        async def timeouts():
            for _ in range(rounds):
                async with asyncio.timeout(10):
                    pass

        self.coroutine("asyncio.timeout around nothing", timeouts, 1, "ns", rounds)
        tasks = self.size(100_000)

        async def child():
            pass

        async def gather():
            await asyncio.gather(*(child() for _ in range(tasks)))

        self.coroutine("100k tasks and gather", gather, 1, "ns", tasks)

    def coroutine(self, workload, function, factor, unit, count):
        loop = self.new()
        self.emit(workload, timed(lambda: loop.run_until_complete(function())) / count * 1e9 * factor, unit)
        loop.close()

    # echo

    def group_echo(self):
        for connections in (1, 10, 100):
            for kind in ("protocols", "streams"):
                rate, cpu = self.echo(kind, connections, 0.8 * min(1, self.scale * 2))
                label = f"echo, {kind}, {connections} connection{'s' * (connections > 1)}"
                self.emit(label, rate, "1/s", "more")
                self.emit(f"{label}, server CPU", cpu * 1e6, "us")

    def echo(self, kind, connections, seconds):
        class Echo(asyncio.Protocol):
            def connection_made(self, transport):
                self.transport = transport

            def data_received(self, data):
                self.transport.write(data)

        async def handle(reader, writer):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.close()

        async def main():
            loop = asyncio.get_running_loop()
            if kind == "protocols":
                server = await loop.create_server(Echo, "127.0.0.1", 0)
            else:
                server = await asyncio.start_server(handle, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            client = await asyncio.create_subprocess_exec(
                self.echo_client, str(port), str(connections), str(seconds), stdout=subprocess.PIPE)
            await client.stdout.readline()  # warm
            began, used = time.perf_counter(), time.process_time()
            rate = float(await client.stdout.readline())
            used = (time.process_time() - used) / (time.perf_counter() - began)
            await client.wait()
            server.close()
            return rate, used / rate

        with asyncio.Runner(loop_factory=self.new) as runner:
            return runner.run(main())


def resident():
    with open("/proc/self/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss_Anon:") or line.startswith("Private_Dirty:"):
                return int(line.split()[1]) * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("loop", choices=["asyncio", "uvloop", "horae"])
    parser.add_argument("group")
    parser.add_argument("--echo-client")
    parser.add_argument("--scale", type=float, default=1.0)
    arguments = parser.parse_args()
    assert not tracemalloc.is_tracing() and gc.isenabled()
    getattr(Bench(arguments.loop, arguments.scale, arguments.echo_client), f"group_{arguments.group}")()


if __name__ == "__main__":
    sys.exit(main())
