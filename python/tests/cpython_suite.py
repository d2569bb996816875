#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPython's own asyncio tests, with every loop they make being ours.

usage: cpython_suite.py [--modules A,B] [--json FILE] [--jobs N] [--timeout SECONDS]

Runs in the interpreter it is started with, which needs its `test` package (Debian: libpython3.11-testsuite).
Each test module has a process of its own; when a test hangs or crashes it, the rest go on in another.
A test that fails is tried again on asyncio's own loop: it counts against us unless it fails there, too.
Exit status 0 means that we pass every test that asyncio passes.
"""
import argparse
import concurrent.futures
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

# Modules with one class per selector, which differ in the method that makes the loop.
PER_SELECTOR = {"test_events", "test_sock_lowlevel", "test_sendfile", "test_server", "test_buffered_proto",
                "test_sslproto", "test_ssl"}
WINDOWS = {"test_windows_events", "test_windows_utils"}
BAD = ("fail", "error", "timeout", "crash")
loops_made = 0


def use_factory(factory):
    """Make asyncio hand out our loops wherever a test asks for a new one."""
    import asyncio

    def counted(*args, **kwargs):
        global loops_made
        loops_made += 1
        return factory(*args, **kwargs)

    policy = getattr(asyncio, "_DefaultEventLoopPolicy", None) or asyncio.DefaultEventLoopPolicy
    policy._loop_factory = staticmethod(counted)
    if hasattr(asyncio, "EventLoop"):
        asyncio.EventLoop = counted
    return counted


def adapt(module, factory):
    """Classes that exist once per selector: keep one of each family, and give it our loop."""
    families, superfluous = set(), set()
    if module.__name__.rpartition(".")[2] not in PER_SELECTOR:
        return superfluous
    for name, cls in list(vars(module).items()):
        if not (isinstance(cls, type) and issubclass(cls, unittest.TestCase) and cls.__module__ == module.__name__):
            continue
        makers = [maker for maker in ("create_event_loop", "new_loop") if maker in vars(cls)]
        if not makers:
            continue
        family = tuple(base.__name__ for base in cls.__bases__)
        if family in families:
            superfluous.add(name)
        families.add(family)
        for maker in makers:
            setattr(cls, maker, lambda self: factory())
    return superfluous


class Recorder(unittest.TestResult):
    """Writes one JSON line when a test begins and one when it ends, so that nothing is lost in a crash."""

    def __init__(self, path, limit):
        super().__init__()
        self.file = open(path, "a")
        self.limit = limit
        self.began = None
        threading.Thread(target=self.watch, daemon=True).start()

    def write(self, **row):
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def watch(self):
        while True:
            time.sleep(0.5)
            began = self.began
            if began is not None and time.monotonic() - began > self.limit:
                self.write(test=self.name, outcome="timeout", detail="", ours=loops_made > self.before)
                os._exit(1)

    def startTest(self, test):
        super().startTest(test)
        self.name, self.outcome, self.detail = test.id(), "pass", ""
        self.before, self.began = loops_made, time.monotonic()
        self.write(begin=self.name)

    def stopTest(self, test):
        self.began = None
        self.write(test=self.name, outcome=self.outcome, detail=self.detail[-600:], ours=loops_made > self.before)
        super().stopTest(test)

    def note(self, outcome, detail=""):
        if self.outcome in ("pass", "skip"):
            self.outcome, self.detail = outcome, detail

    def addError(self, test, err):
        if self.began is None:
            self.write(test=str(test), outcome="error", detail=self._exc_info_to_string(err, test)[-600:], ours=True)
        else:
            self.note("error", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self.note("fail", self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.note("fail", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        if self.began is not None:
            self.note("skip", reason)

    def addUnexpectedSuccess(self, test):
        self.note("fail", "unexpected success")


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


def child(job):
    """In its own process: run one module's tests and record them."""
    import faulthandler
    import signal

    from test import support

    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with SIGINT ignored
    support.use_resources = []
    if job["loop"] == "horae":
        import horae

        factory = use_factory(horae.EventLoop)
    else:
        import asyncio

        factory = use_factory(asyncio.SelectorEventLoop)
    module = importlib.import_module(f"test.test_asyncio.{job['module']}")
    superfluous = adapt(module, factory)
    # Whole classes and modules stay together, for the sake of their fixtures.
    chosen = unittest.TestSuite()
    for test in tests_of(unittest.defaultTestLoader.loadTestsFromModule(module)):
        if type(test).__name__ in superfluous or test.id() in job["done"]:
            continue
        if job["only"] is None or test.id() in job["only"]:
            chosen.addTest(test)
    recorder = Recorder(job["out"], job["limit"])
    chosen.run(recorder)
    recorder.write(finished=True)
    os._exit(0)  # not delayed by what a failed test left behind


def run_module(module, loop, limit, only=None):
    """All rows of one module: {test id: row}."""
    rows = {}
    with tempfile.TemporaryDirectory(prefix="horae-cpython-") as folder:
        out = os.path.join(folder, "rows")
        for _ in range(100):
            pathlib.Path(out).write_text("")
            job = dict(module=module, loop=loop, limit=limit, out=out, done=sorted(rows), only=only)
            process = subprocess.run([sys.executable, os.path.abspath(__file__), "--child", json.dumps(job)],
                                     cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            begun, finished = None, False
            for row in map(json.loads, pathlib.Path(out).read_text().splitlines()):
                if "begin" in row:
                    begun = row["begin"]
                elif "finished" in row:
                    finished = True
                else:
                    rows[row["test"]] = row
                    begun = None
            if finished:
                return rows
            if begun:
                rows[begun] = dict(test=begun, outcome="crash", detail=process.stderr[-600:], ours=True)
            elif not rows:
                rows[module] = dict(test=module, outcome="error", detail=process.stderr[-600:], ours=True)
                return rows
    raise SystemExit(f"{module}: too many crashes")


def judge(module, limit):
    """Run a module on our loop, and what fails once more: on ours alone, then on asyncio's."""
    rows = run_module(module, "horae", limit)
    bad = [test for test, row in rows.items() if row["outcome"] in BAD and row["outcome"] != "error" or
           row["outcome"] == "error" and test.startswith("test.")]
    if bad:
        reference = run_module(module, "asyncio", limit, bad)
        for test in bad:
            rows[test]["asyncio"] = reference.get(test, {}).get("outcome", "missing")
    return module, rows


def summary(results):
    table = {}
    for module, rows in sorted(results.items()):
        counts = dict(all=len(rows), ours=sum(row["ours"] for row in rows.values()))
        for outcome in ("pass", "skip", *BAD):
            counts[outcome] = sum(row["outcome"] == outcome for row in rows.values())
        table[module] = counts
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules")
    parser.add_argument("--json")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(json.loads(arguments.child))
    import horae
    import test.test_asyncio

    folder = pathlib.Path(test.test_asyncio.__file__).parent
    modules = sorted({file.stem for file in folder.glob("test_*.py")} - WINDOWS)
    if arguments.modules:
        modules = arguments.modules.split(",")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = dict(pool.map(lambda module: judge(module, arguments.timeout), modules))
    failed = excused = 0
    for module, counts in summary(results).items():
        print(f"{module:<28}" + "  ".join(f"{value} {name}" for name, value in counts.items() if value))
        for row in results[module].values():
            if row["outcome"] in BAD:
                also_there = row.get("asyncio") in BAD
                excused += also_there
                failed += not also_there
                print(f"  {row['outcome']}: {row['test']} (on asyncio: {row.get('asyncio')})\n{row['detail']}")
    total = [row for rows in results.values() for row in rows.values()]
    if arguments.json:
        skips = [dict(test=row["test"], reason=row["detail"]) for row in total if row["outcome"] == "skip"]
        document = dict(python=sys.version.split()[0], horae=horae.__version__, modules=summary(results), skipped=skips,
                        failed=[row for row in total if row["outcome"] in BAD])
        pathlib.Path(arguments.json).write_text(json.dumps(document, indent=1) + "\n")
    passed = sum(row["outcome"] == "pass" for row in total)
    if excused:
        print(f"{excused} fail on asyncio's own loop as well")
    print(f"{passed} passed, {failed} failed, {sum(row['outcome'] == 'skip' for row in total)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
