"""./horae bench python: runs the workloads on three loops in turns, checks the targets, writes JSON, table and chart."""
import argparse
import importlib.metadata
import json
import pathlib
import platform
import statistics
import sys

import chart
import machine
import rounds

LOOPS = ["horae", "asyncio", "uvloop"]
GROUPS = ["callbacks", "timers", "memory", "delays", "tasks", "echo"]
FOLDER = pathlib.Path("docs/benchmarks")

# (how a workload's name begins, at most this ratio to the better rival, or to the one named)
TARGETS = [
    ("call_soon_threadsafe", 0.7, None),
    ("call_soon", 0.6, None),
    ("sleep(0)", 0.6, None),
    ("call_later_many", None, None),
    ("call_later", 0.4, None),
    ("cancel", 0.4, None),
    ("register+cancel+drain", 0.4, None),
    ("expire", 0.4, None),
    ("bytes per pending timer", 0.6, "asyncio"),
    ("lateness p99", 0.3, None),
    ("echo, protocols", 1 / 0.85, "uvloop"),
    ("echo, streams", 1.0, "uvloop"),
]
NOT_BEHIND = 1.03  # beside asyncio, where no other target is set: within the noise of a wall clock


def condense(rows):
    """{workload: {loop: (median, least, most)}}, and each workload's unit and direction."""
    samples, facts = {}, {}
    for row in rows:
        samples.setdefault(row["workload"], {}).setdefault(row["loop"], []).append(row["value"])
        facts[row["workload"]] = {"unit": row["unit"], "better": row["better"]}
    cells = {workload: {loop: {"median": statistics.median(values), "least": min(values), "most": max(values),
                               "rounds": len(values)} for loop, values in loops.items()}
             for workload, loops in samples.items()}
    return cells, facts


def ratio(workload, cells, facts, rival=None):
    """Ours over the better rival's (or the named one's), turned so that less is better; None without a rival."""
    row = {loop: cell["median"] for loop, cell in cells[workload].items()}
    rivals = [row[name] for name in LOOPS[1:] if name in row and (rival is None or name == rival)]
    if not rivals or "horae" not in row:
        return None
    if facts[workload]["better"] == "more":
        return max(rivals) / row["horae"] if row["horae"] else None
    return row["horae"] / min(rivals) if min(rivals) else None


def verdict(workload, cells, facts):
    """(what was to be reached, the ratio, reached?) of one row; None where nothing was promised."""
    if workload.startswith("fired early"):
        ours = cells[workload]["horae"]["median"]
        return "none", ours, ours == 0
    if ", server CPU" in workload or workload.startswith("lateness p50"):
        return None
    for begin, most, rival in TARGETS:
        if workload.startswith(begin):
            value = ratio(workload, cells, facts, rival)
            return None if most is None or value is None else (f"<= {most:.2f}x {rival or 'the better'}", value, value <= most)
    value = ratio(workload, cells, facts, "asyncio")
    return f"<= {NOT_BEHIND}x asyncio", value, value <= NOT_BEHIND


def more_checks(cells):
    """Targets that are not one row's: (text, reached?)."""
    single, many = cells["call_later 100k, 10-1000 ms"], cells["call_later_many 100k"]["horae"]["median"]
    rate = 1e9 / single["horae"]["median"]
    return [(f"registration above 800k/s: {rate / 1000:,.0f}k/s", rate > 800_000),
            (f"bulk registration cheaper per timer: {many:.0f} against {single['horae']['median']:.0f} ns",
             many < single["horae"]["median"]),
            (f"p99 lateness under 1 ms: {cells['lateness p99']['horae']['median']:.0f} us",
             cells["lateness p99"]["horae"]["median"] < 1000)]


def show(cell, unit):
    if cell is None:
        return "-"
    digits = 0 if cell["median"] >= 100 or unit == "timers" else 1
    spread = f" ({cell['least']:,.{digits}f}-{cell['most']:,.{digits}f})" if cell["rounds"] > 1 else ""
    return f"{cell['median']:,.{digits}f}{spread}"


def page(result):
    cells, facts = result["cells"], result["facts"]
    lines = ["# The asyncio loop beside asyncio and uvloop", "",
             "Written by `./horae bench python`. Medians of the rounds, least and most in brackets; garbage collection on;",
             "the loops took turns. The ratio is Horae's figure to the better of the two others, turned so that less is",
             "better.", "", f"{result['date']}, commit {result['commit']}; {result['machine']['cpu']}, "
             f"{result['machine']['cores']} cores; Python {result['python']}, uvloop {result['uvloop']}; "
             f"load average at the start {result['load']:.1f}.", "", "![chart](python.svg)", "",
             "| workload | unit | horae | asyncio | uvloop | ratio | to reach |", "|---|---|---:|---:|---:|---:|---|"]
    for workload, row in cells.items():
        unit, value, judged = facts[workload]["unit"], ratio(workload, cells, facts), verdict(workload, cells, facts)
        text = "" if judged is None else f"{judged[0]}: {'yes' if judged[2] else f'**missed**, {judged[1]:.2f}'}"
        lines.append(f"| {workload} | {unit} | " + " | ".join(show(row.get(loop), unit) for loop in LOOPS) +
                     f" | {'' if value is None else f'{value:.2f}'} | {text} |")
    lines += [""] + [f"- {text}: {'yes' if reached else '**missed**'}" for text, reached in more_checks(cells)]
    return "\n".join(lines) + "\n"


def picture(result):
    cells, facts = result["cells"], result["facts"]
    wanted = ["call_later 100k, 10-1000 ms", "cancel 100k, 10-1000 ms", "expire 100k", "register+cancel+drain",
              "call_soon 50k", "sleep(0)", "lateness p99", "bytes per pending timer"]
    panels = [chart.Panel(name.split(" 100k")[0], facts[name]["unit"],
                          [cells[name][loop]["median"] if loop in cells[name] else None for loop in LOOPS])
              for name in wanted if name in cells]
    return chart.bars("Horae's asyncio loop: less is better", LOOPS, "horae", panels)


def measure(arguments):
    load = float(pathlib.Path("/proc/loadavg").read_text().split()[0])
    script = str(pathlib.Path(__file__).with_name("python_workloads.py"))
    rows = []
    for group in arguments.groups.split(","):
        jobs = {f"{group} on {loop}": [sys.executable, script, loop, group, "--scale", str(arguments.scale),
                                       "--echo-client", str(pathlib.Path(arguments.echo_client).resolve())]
                for loop in LOOPS}
        rows += rounds.round_robin(jobs, arguments.rounds, 600, group)
    cells, facts = condense(rows)
    return machine.facts() | {"python": platform.python_version(), "uvloop": importlib.metadata.version("uvloop"),
                              "load": load, "scale": arguments.scale, "cells": cells, "facts": facts}


def main():
    parser = argparse.ArgumentParser(prog="./horae bench python", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="how much of each workload's size")
    parser.add_argument("--groups", default=",".join(GROUPS), help="some of " + ", ".join(GROUPS))
    parser.add_argument("--report", action="store_true", help="only write the page and the chart anew from the JSON")
    parser.add_argument("--output", default=str(FOLDER), help="where to write python.json, python.md and python.svg")
    parser.add_argument("--echo-client", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.output)
    file = folder / "python.json"
    result = json.loads(file.read_text()) if arguments.report else measure(arguments)
    folder.mkdir(parents=True, exist_ok=True)
    if set(arguments.groups.split(",")) < set(GROUPS):
        for workload in result["cells"]:
            row = {loop: show(cell, "") for loop, cell in result["cells"][workload].items()}
            print(f"{workload:<44} {row} {verdict(workload, result['cells'], result['facts'])}")
        return 0
    file.write_text(json.dumps(result, indent=1) + "\n")
    (folder / "python.md").write_text(page(result))
    (folder / "python.svg").write_text(picture(result))
    print(page(result))
    judged = {name: verdict(name, result["cells"], result["facts"]) for name in result["cells"]}
    missed = [name for name, value in judged.items() if value and not value[2]]
    missed += [text for text, reached in more_checks(result["cells"]) if not reached]
    print(f"{len(missed)} targets missed" + "".join(f"\n  {name}" for name in missed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
