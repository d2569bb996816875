"""Runs programs that print JSON lines, round after round, rivals taking turns, and condenses the rows to cells."""
import json
import statistics
import subprocess
import sys
import time


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def done() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def json_lines(command: list[str], timeout: float | None = None) -> list[dict]:
    """The rows a program prints. A failing program ends the benchmark: its figures cannot be trusted."""
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        sys.exit(f"\nbenchmark: {' '.join(command)} took more than {timeout:.0f} s")
    if run.returncode != 0:
        sys.exit(f"\nbenchmark: {' '.join(command)} ended with status {run.returncode}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def round_robin(jobs: dict[str, list[str]], rounds: int, seconds_each: float, label: str) -> list[dict]:
    """All jobs once per round, so that noise hits all alike.

    `jobs` maps a name to its command, to which the round's number is appended. A job that has used up its seconds
    takes part in no further round; its cells then say how many rounds they come from.
    """
    rows, used = [], dict.fromkeys(jobs, 0.0)
    for number in range(rounds):
        for name, command in jobs.items():
            if used[name] > seconds_each:
                continue
            progress(f"{label}: round {number + 1} of {rounds}: {name}")
            begin = time.monotonic()
            rows += json_lines([part.replace("ROUND", str(number)) for part in command], timeout=600)
            used[name] += time.monotonic() - begin
    done()
    return rows


def condense(rows: list[dict], keys: tuple[str, ...], value: str) -> list[dict]:
    """One cell per combination of `keys`: median, least and most of `value`, and the last round's other members."""
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    cells = []
    for group in groups.values():
        cell = {key: item for key, item in group[-1].items() if key not in ("round", value)}
        if value in group[-1]:
            values = [row[value] for row in group]
            cell |= {value: statistics.median(values), "least": min(values), "most": max(values), "rounds": len(values)}
        cells.append(cell)
    return cells
