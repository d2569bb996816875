#!/usr/bin/env python3
"""Counts what each operation of the wheel costs under callgrind: the same numbers on every run, also on a busy machine.

Only the measured stretches are counted, the harness's loop with them. The last-level cache is set to 1.25 MiB, one core's
second level, so that a few hundred thousand timers miss it as a few million miss the real last level. One file
build/callgrind.WORKLOAD.out per workload is left behind for callgrind_annotate.
"""
import argparse
import json
import re
import subprocess
import sys

import wheel_page


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./horae bench wheel-count", description=__doc__)
    parser.add_argument("--size", type=int, default=200_000, help="pending timers (default 200000)")
    parser.add_argument("--rivals", type=lambda text: text.split(","), default=[wheel_page.OURS, "binary heap"])
    parser.add_argument("--only", choices=wheel_page.WORKLOADS, metavar="WORKLOAD", help=", ".join(wheel_page.WORKLOADS))
    parser.add_argument("--program", help=argparse.SUPPRESS)
    return parser.parse_args()


def count(program: str, rival: str, size: int, workload: str) -> tuple[float, ...]:
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--LL=1310720,10,64", "--collect-atstart=no",
         f"--callgrind-out-file=build/callgrind.{workload}.out", program, rival, str(size), "0", "--only", workload,
         "--budget", "100000", "--operations", str(size)], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"wheel-count: {rival}, {workload}: {run.stderr}")
    row = json.loads(run.stdout.splitlines()[-1])
    if "not_available" in row:
        return ()
    # The first filling is counted with the schedules.
    operations = row["operations"] + (size if workload == "schedule" else 0)
    found = (re.search(rf"{name}:\s+([\d,]+)", run.stderr) for name in (r"I +refs", r"D1 +misses", r"LLd misses"))
    return tuple(int(match.group(1).replace(",", "")) / operations for match in found)


def main() -> None:
    options = arguments()
    print(f"{options.size:,} pending, per operation\n\n{'':18}{'instructions':>14}{'L1 misses':>12}{'L2 misses':>12}")
    for workload in [options.only] if options.only else wheel_page.WORKLOADS:
        print(wheel_page.TITLES[workload])
        for rival in options.rivals:
            got = count(options.program, rival, options.size, workload)
            text = f"{got[0]:14.1f}{got[1]:12.2f}{got[2]:12.2f}" if got else f"{'n/a':>14}"
            print(f"  {rival:16}{text}", flush=True)


main()
