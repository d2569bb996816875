#!/usr/bin/env python3
"""Measures the executor beside its rivals and writes exec.json, exec.md and exec.svg.

A full run writes to docs/benchmarks and takes some minutes; one narrowed by an option writes to build/benchmarks, unless
--output says otherwise.
"""
import argparse
import json
import os
import pathlib
import sys

import machine
import rounds

RIVALS = ("horae", "horae-current", "tokio", "tokio-current", "asio", "threads", "go")
WORKLOADS = ("spawn_join", "spawn_outside", "yield_1", "yield_1k", "yield_100k", "ping_pong", "fan_out_in_100k", "skewed",
             "fib_20", "foreign_wake", "wake_1M_suspended", "cancel_suspended")
# Workloads where Tokio on as many workers is to be beaten by a factor, and that factor.
TARGETS = {"spawn_join": 0.5, "yield_1": 0.5, "yield_1k": 0.5, "yield_100k": 0.5, "ping_pong": 0.5}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./horae bench exec", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 rounds")
    parser.add_argument("--rounds", type=int, help="rounds (default 5)")
    parser.add_argument("--only", choices=WORKLOADS, metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--rivals", type=lambda text: text.split(","), help="some rivals only, e.g. horae,tokio")
    parser.add_argument("--output", type=pathlib.Path, help="folder for the results")
    parser.add_argument("--report", type=pathlib.Path, metavar="JSON", help="only write page and chart of these results")
    parser.add_argument("--program", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--missing", action="append", default=[], help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(options: argparse.Namespace) -> dict:
    found = [(row["rival"], program)
             for program in options.program for row in rounds.json_lines([program, "--list"])]
    wanted = [(name, program) for name, program in found if not options.rivals or name in options.rivals]
    extra = ["--only", options.only] if options.only else []
    load = round(os.getloadavg()[0], 1)
    jobs = {name: [program, name, *extra] for name, program in wanted}
    rows = rounds.round_robin(jobs, options.rounds or (2 if options.quick else 5), 300.0, "executor")
    return {"benchmark": "exec", **machine.facts(), "load_before": load, "missing": options.missing,
            "cells": rounds.condense(rows, ("rival", "workload", "workers"), "ns_per_op")}


def lookup(results: dict) -> dict:
    return {(cell["workload"], cell["workers"], cell["rival"]): cell for cell in results["cells"]}


def family(rival: str) -> str:
    return "horae-current" if rival.endswith("-current") else "horae"


def verdicts(results: dict) -> list[str]:
    """Every cell in which we are not ahead, and every target that is missed."""
    cells, misses = lookup(results), []
    for (workload, workers, rival), cell in sorted(cells.items()):
        ours = cells.get((workload, workers, family(rival)))
        if rival.startswith("horae") or ours is None:
            continue
        ratio = ours["ns_per_op"] / cell["ns_per_op"]
        limit = TARGETS.get(workload, 1.0) if rival.startswith("tokio") else 1.0
        if ratio > limit:
            misses.append(f"{workload}, {workers} worker(s): {ratio:.2f} x {rival}, the target is {limit}")
    return misses


def page(results: dict) -> str:
    cells = lookup(results)
    present = [rival for rival in RIVALS if any(key[2] == rival for key in cells)]
    lines = ["# The executor beside its rivals", "",
             "Nanoseconds an operation, wall clock, median of the rounds; in brackets our time by theirs (below 1: we are ahead).",
             "What each workload does is in `bench/compare/exec/workload.hpp`. Made by `./horae bench exec`.", "",
             "| workload | workers | " + " | ".join(present) + " |", "|---|---|" + "---|" * len(present)]
    for workload in WORKLOADS:
        for workers in (1, 2):
            if not any((workload, workers, rival) in cells for rival in present):
                continue
            parts = []
            for rival in present:
                cell = cells.get((workload, workers, rival))
                ours = cells.get((workload, workers, family(rival)))
                if cell is None:
                    parts.append("")
                elif rival.startswith("horae") or ours is None:
                    parts.append(f"{cell['ns_per_op']:.0f}")
                else:
                    parts.append(f"{cell['ns_per_op']:.0f} ({ours['ns_per_op'] / cell['ns_per_op']:.2f})")
            lines.append(f"| {workload} | {workers} | " + " | ".join(parts) + " |")
    lines += ["", "Resident bytes of a suspended task, all included: " + ", ".join(
        f"{key[2]} {cell['bytes']}" for key, cell in sorted(cells.items()) if "bytes" in cell and key[1] == 1), ""]
    lines += ["## Missed", ""] + [f"- {miss}" for miss in verdicts(results) or ["nothing"]]
    lines += [""] + [f"Left out: {text}.\n" for text in results["missing"]]
    facts = ", ".join(f"{key} {value}" for key, value in results["machine"].items())
    lines += [f"Machine: {facts}. Load average before the run: {results['load_before']} (above 0 others were using the cores)."]
    return "\n".join(lines) + "\n"


def chart(results: dict) -> str:
    """Our time by Tokio's, a bar for each workload on two workers; shorter is better, the line is 1."""
    cells = lookup(results)
    bars = [(name, cells[name, 2, "horae"]["ns_per_op"] / cells[name, 2, "tokio"]["ns_per_op"]) for name in WORKLOADS
            if (name, 2, "horae") in cells and (name, 2, "tokio") in cells]
    height = 22 * len(bars) + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="640" height="{height}" fill="#fff"/>',
           '<text x="10" y="18" font-size="14">Time of Horae by time of Tokio, two workers (1 = as slow)</text>']
    for i, (name, ratio) in enumerate(bars):
        y = 34 + 22 * i
        width = min(ratio, 1.2) * 360
        out.append(f'<text x="10" y="{y + 13}">{name}</text>'
                   f'<rect x="150" y="{y}" width="{width:.0f}" height="16" fill="{"#2a7f62" if ratio <= 1 else "#b3443c"}"/>'
                   f'<text x="{156 + width:.0f}" y="{y + 13}">{ratio:.2f}</text>')
    out.append(f'<line x1="510" y1="28" x2="510" y2="{height - 10}" stroke="#888" stroke-dasharray="4 3"/></svg>')
    return "\n".join(out) + "\n"


def main() -> None:
    options = arguments()
    if options.report:
        results = json.loads(options.report.read_text())
    else:
        if not options.program:
            sys.exit("bench: run it as ./horae bench exec")
        results = measure(options)
    narrowed = options.quick or options.rounds or options.only or options.rivals
    folder = options.output or pathlib.Path("build/benchmarks" if narrowed else "docs/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    if not options.report:
        (folder / "exec.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "exec.md").write_text(page(results))
    (folder / "exec.svg").write_text(chart(results))
    print(page(results))


main()
