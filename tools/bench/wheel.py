#!/usr/bin/env python3
"""Measures the timing wheel beside its rivals and writes wheel.json, wheel.md and wheel.svg.

A full run writes to docs/benchmarks and takes about a quarter of an hour; one narrowed by an option writes to
build/benchmarks, unless --output says otherwise.
"""
import argparse
import json
import pathlib
import sys

import machine
import rounds
import wheel_page

SIZES = (1_000, 100_000, 1_000_000, 10_000_000)
# Measured seconds after which a cell stops, and seconds after which a rival takes part in no further round.
CELL_SECONDS = {1_000: 2.0, 100_000: 2.0, 1_000_000: 4.0, 10_000_000: 1.5}
RIVAL_SECONDS = {1_000: 30.0, 100_000: 30.0, 1_000_000: 40.0, 10_000_000: 40.0}


def number(text: str) -> int:
    scale = {"k": 1_000, "M": 1_000_000}.get(text[-1:], 1)
    digits = text[:-1] if scale > 1 else text
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 1000, 100k or 1M")
    return int(digits) * scale


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./horae bench wheel", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1k and 100k pending, 3 rounds")
    parser.add_argument("--sizes", type=lambda text: [number(part) for part in text.split(",")],
                        help="numbers of pending timers, e.g. 1k,1M")
    parser.add_argument("--rivals", type=lambda text: text.split(","), help="some rivals only, e.g. horae,libuv")
    parser.add_argument("--rounds", type=number, help="rounds (default 5)")
    parser.add_argument("--only", choices=wheel_page.WORKLOADS, metavar="WORKLOAD", help=", ".join(wheel_page.WORKLOADS))
    parser.add_argument("--patience", type=number, metavar="SECONDS",
                        help="a rival that has taken so long at a size takes part in no further round there")
    parser.add_argument("--output", type=pathlib.Path, help="folder for the results")
    parser.add_argument("--report", type=pathlib.Path, metavar="JSON", help="only write page and chart of these results")
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--rust-program", help=argparse.SUPPRESS)
    parser.add_argument("--rust-missing", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def list_rivals(options: argparse.Namespace) -> list[dict]:
    found = []
    for program in filter(None, (options.program, options.rust_program)):
        found += [row | {"program": program} for row in rounds.json_lines([program, "--list"])]
    found.sort(key=lambda rival: wheel_page.rank(rival["rival"]))
    names = [rival["rival"] for rival in found]
    for wanted in options.rivals or ():
        if wanted not in names:
            sys.exit(f"bench: there is no rival '{wanted}'; there are: {', '.join(names)}")
    return [rival for rival in found if not options.rivals or rival["rival"] in options.rivals]


def measure(options: argparse.Namespace) -> dict:
    sizes = options.sizes or (SIZES[:2] if options.quick else SIZES)
    count = options.rounds or (3 if options.quick else 5)
    rivals = list_rivals(options)
    cells = []
    for size in sizes:
        near = min(SIZES, key=lambda known: abs(known - size))
        extra = ["--budget", str(CELL_SECONDS[near])] + (["--only", options.only] if options.only else [])
        jobs = {rival["rival"]: [rival["program"], rival["rival"], str(size), "ROUND", *extra] for rival in rivals}
        rows = rounds.round_robin(jobs, count, options.patience or RIVAL_SECONDS[near], f"{size:,} pending")
        cells += rounds.condense(rows, ("rival", "workload", "size"), "ns_per_op")
    return {
        "benchmark": "wheel",
        **machine.facts(),
        **machine.cmake_build(pathlib.Path("build/bench")),
        "rust": machine.output_of("rustc", "--version") if options.rust_program else f"skipped: {options.rust_missing}",
        "rounds": count,
        "rivals": [{key: item for key, item in rival.items() if key != "program"} for rival in rivals],
        "cells": cells,
    }


def main() -> None:
    options = arguments()
    narrowed = options.quick or options.sizes or options.rivals or options.rounds or options.only
    output = options.output or pathlib.Path("build/benchmarks" if narrowed else "docs/benchmarks")
    if options.report:
        results = json.loads(options.report.read_text())
        output = options.output or options.report.parent
    else:
        results = measure(options)
    output.mkdir(parents=True, exist_ok=True)
    (output / "wheel.json").write_text(json.dumps(results, indent=1) + "\n")
    (output / "wheel.md").write_text(wheel_page.page(results))
    (output / "wheel.svg").write_text(wheel_page.chart(results))
    print(wheel_page.summary(results))
    print(f"\nwritten: {output}/wheel.json, wheel.md, wheel.svg")


if __name__ == "__main__":
    main()
