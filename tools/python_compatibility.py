#!/usr/bin/env python3
"""Turns the results of python/tests/cpython_suite.py (--json) into the published pass/skip list, on stdout."""
import json
import pathlib
import sys

BAD = ("fail", "error", "timeout", "crash")
HEAD = """# CPython's own asyncio tests on our loop

Written by `./horae python compatibility`, which runs CPython's `test.test_asyncio` with every loop it makes being
`horae.EventLoop`. 'Ours' are the tests in which at least one such loop was made; the others test asyncio's parts without
a loop, or on mock objects, and show that importing us disturbs nothing. Skipped tests are skipped by the tests themselves,
for the reasons given. There is no list of exceptions.
"""


def table(results):
    lines = ["| module | " + " | ".join(f"{r['python']} passed | ours | skipped" for r in results) + " |",
             "|---|" + "---:|---:|---:|" * len(results)]
    modules = sorted({module for result in results for module in result["modules"]})
    for module in modules:
        cells = []
        for result in results:
            counts = result["modules"].get(module)
            cells += [str(counts[key] or "") for key in ("pass", "ours", "skip")] if counts else ["", "", ""]
        lines.append(f"| {module} | " + " | ".join(cells) + " |")
    totals = []
    for result in results:
        totals += [str(sum(c[key] for c in result["modules"].values())) for key in ("pass", "ours", "skip")]
    return lines + ["| **all** | " + " | ".join(f"**{value}**" for value in totals) + " |"]


def main():
    results = [json.loads(pathlib.Path(name).read_text()) for name in sys.argv[1:]]
    lines = [HEAD, *table(results)]
    for result in results:
        lines += ["", f"## Python {result['python']}", ""]
        failed = [row for row in result["failed"] if row.get("asyncio") not in BAD]
        also = [row for row in result["failed"] if row.get("asyncio") in BAD]
        lines.append(f"Failed: {len(failed) or 'none'}.")
        lines += [f"- `{row['test']}`: {row['outcome']}" for row in failed]
        if also:
            lines.append(f"Failed on asyncio's own loop as well, on the machine of this run: {len(also)}.")
            lines += [f"- `{row['test']}`" for row in also]
        reasons = {}
        for row in result["skipped"]:
            reasons.setdefault(" ".join(row["reason"].split()), []).append(row["test"].removeprefix("test.test_asyncio."))
        for reason, tests in sorted(reasons.items()):
            lines += ["", f"Skipped, '{reason}':", *(f"- `{test}`" for test in sorted(tests))]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
