"""What wheel.json says: tables, the issue's targets checked one by one, the chart."""
import chart as charts

WORKLOADS = ("schedule", "rearm", "cancel", "expire", "churn", "next", "jump")
TITLES = {
    "schedule": "schedule", "rearm": "re-arm", "cancel": "cancel", "expire": "expire", "churn": "churn",
    "next": "next deadline", "jump": "jump of 10 years",
}
MEANINGS = {
    "schedule": "deadlines uniform in 10 ms .. 60 s",
    "rearm": "a random timer to now + 30 s; the clock moves 1 ms every 1,000 operations",
    "cancel": "all, in random order",
    "expire": "1 ms steps to the end; time per timer fired, so at 1k pending mostly the cost of 60 idle steps",
    "churn": "N pending all the time, durations 1 ms .. 1 h, nine of ten cancelled before they fire; time per life",
    "next": "asked again and again",
    "jump": "one advance by ten years fires everything; time per timer",
}
OURS = "horae"
ORDER = (OURS, "Boost.Asio", "libuv", "libevent", "std::multimap", "binary heap", "Tokio", "nexus-timer", "bitwheel")
LESSER = ("nexus-timer", "bitwheel")  # promise less than we do: see bench/README.md
BYTES_LIMIT = 56
LIMITS_AT_1M = {"rearm": 0.5, "cancel": 0.5, "expire": 0.5, "schedule": 1.0}


def rank(rival: str) -> int:
    return ORDER.index(rival) if rival in ORDER else len(ORDER)


def size_name(size: int) -> str:
    if size % 1_000_000 == 0:
        return f"{size // 1_000_000}M"
    return f"{size // 1_000}k" if size % 1_000 == 0 else f"{size:,}"


def figure(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


class Results:
    def __init__(self, data: dict):
        self.data = data
        self.rivals = [rival["rival"] for rival in data["rivals"]]
        self.sizes = sorted({cell["size"] for cell in data["cells"]})
        self.cells = {(cell["size"], cell["workload"], cell["rival"]): cell for cell in data["cells"]}

    def value(self, size: int, workload: str, rival: str) -> float | None:
        return self.cells.get((size, workload, rival), {}).get("ns_per_op")

    def best(self, size: int, workload: str, among: list[str]) -> tuple[float, str] | None:
        found = [(self.value(size, workload, rival), rival) for rival in among]
        return min((pair for pair in found if pair[0] is not None), default=None)

    def ratio(self, size: int, workload: str, among: list[str]) -> tuple[float, float, str] | None:
        """Our figure by the best of theirs, that figure, and whose it is."""
        ours, theirs = self.value(size, workload, OURS), self.best(size, workload, among)
        return (ours / theirs[0], *theirs) if ours is not None and theirs else None

    @property
    def full_peers(self) -> list[str]:
        return [rival for rival in self.rivals if rival != OURS and rival not in LESSER]

    @property
    def lesser_peers(self) -> list[str]:
        return [rival for rival in self.rivals if rival in LESSER]

    def bytes_per_timer(self, size: int, rival: str) -> float | None:
        return self.cells.get((size, "schedule", rival), {}).get("bytes_per_timer")


def targets(results: Results) -> list[tuple[bool, str]]:
    """Every target, met or missed, with the figures."""
    found = []

    def compare(size: int, workload: str, among: list[str], limit: float, strict: bool, text: str) -> None:
        got = results.ratio(size, workload, among)
        if got is None:
            return
        ratio, theirs, rival = got
        met = ratio < limit if strict else ratio <= limit
        found.append((met, f"{size_name(size)}, {TITLES[workload]}: {text}: {ratio:.3f}x "
                           f"({figure(results.value(size, workload, OURS))} against {figure(theirs)} ns, {rival})"))

    for size in results.sizes:
        for workload in WORKLOADS:
            compare(size, workload, results.full_peers, 1.0, True, "ahead of every full peer")
            compare(size, workload, results.lesser_peers, 1.0, False, "not behind nexus-timer and bitwheel")
    for workload, limit in LIMITS_AT_1M.items():
        if 1_000_000 in results.sizes:
            compare(1_000_000, workload, results.full_peers, limit, False, f"at most {limit}x the best full peer")
    for size in results.sizes:
        used = results.bytes_per_timer(size, OURS)
        if used is not None:
            found.append((used <= BYTES_LIMIT, f"{size_name(size)}: at most {BYTES_LIMIT} bytes per timer: {used:.1f}"))
    return found


def spread(cell: dict | None, rounds: int) -> str:
    if cell is None:
        return ""
    if "ns_per_op" not in cell:
        return "n/a"
    mark = "" if cell["rounds"] >= rounds else f" <sub>{cell['rounds']}r</sub>"
    return f"{figure(cell['ns_per_op'])} <sub>{figure(cell['least'])}..{figure(cell['most'])}</sub>{mark}"


def ratio_text(results: Results, size: int, workload: str, among: list[str], limit: float, strict: bool) -> str:
    got = results.ratio(size, workload, among)
    if got is None:
        return ""
    missed = got[0] >= limit if strict else got[0] > limit
    text = f"{got[0]:.2f}x {got[2]}"
    return f"**{text}**" if missed else text


def table(results: Results, size: int) -> list[str]:
    head = ["", *results.rivals, "to best full peer", "to best of the rest"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for workload in WORKLOADS:
        cells = [results.cells.get((size, workload, rival)) for rival in results.rivals]
        if not any(cells):
            continue
        at_1m = size == 1_000_000 and workload in LIMITS_AT_1M
        limit = LIMITS_AT_1M[workload] if at_1m else 1.0
        ratios = [ratio_text(results, size, workload, results.full_peers, limit, not at_1m),
                  ratio_text(results, size, workload, results.lesser_peers, 1.0, False)]
        lines.append("| " + " | ".join([TITLES[workload], *(spread(cell, results.data["rounds"]) for cell in cells), *ratios]) + " |")
    used = [results.bytes_per_timer(size, rival) for rival in results.rivals]
    if any(used):
        texts = [f"{value:.0f}" if value else "" for value in used]
        if OURS in results.rivals and (ours := results.bytes_per_timer(size, OURS)) and ours > BYTES_LIMIT:
            texts[results.rivals.index(OURS)] = f"**{ours:.0f}**"
        lines.append("| " + " | ".join(["bytes/timer", *texts, "", ""]) + " |")
    return lines


def notes(results: Results) -> list[str]:
    """Cells that are missing, and what rivals did that ours may not."""
    lines = []
    missing: dict[tuple[str, str, str], list[str]] = {}
    for cell in results.data["cells"]:
        if "not_available" in cell:
            key = (cell["rival"], cell["workload"], cell["not_available"])
            missing.setdefault(key, []).append(size_name(cell["size"]))
    for (rival, workload, why), sizes in missing.items():
        lines.append(f"- n/a: {rival}, {TITLES[workload]}, {', '.join(sizes)}: {why}.")
    for cell in results.data["cells"]:
        if cell["workload"] != "expire" or "early" not in cell:
            continue
        told = [f"{cell[key]:,} {text}" for key, text in (("early", "early"), ("late", "late"),
                                                        ("out_of_order", "out of deadline order")) if cell.get(key)]
        if told:
            lines.append(f"- {cell['rival']}, expire at {size_name(cell['size'])}: of {cell['operations']:,} timers "
                         f"{', '.join(told)}.")
    return lines


def page(data: dict) -> str:
    results, host = Results(data), data["machine"]
    lines = [
        "<!-- Written by ./horae bench wheel; do not edit. -->",
        "# The timing wheel beside its rivals", "", "![chart](wheel.svg)", "",
        f"{data['date']}, commit {data['commit']}. {host['cpu']}, {host['cores']} cores, {host['caches']}, "
        f"{host['memory_gib']} GiB, {host['kernel']}. {data['compiler']}, `{data['flags']}`. Rust: {data['rust']}.", "",
        "Nanoseconds of processor time per operation: the median of "
        f"{data['rounds']} rounds, least and most beside it (`2r`: of so many rounds only, the rival being too slow "
        "for more). Rivals take turns within a round. 16-byte payload; bytes per timer count everything on the heap, "
        "allocator overhead included, but not the handle the user keeps. **Bold: a target is missed.**", "",
    ]
    lines += [f"- *{TITLES[workload]}*: {MEANINGS[workload]}." for workload in WORKLOADS]
    for size in results.sizes:
        lines += ["", f"## {size:,} pending", "", *table(results, size)]
    checked = targets(results)
    met = sum(ok for ok, _ in checked)
    lines += ["", "## Targets", "", f"{met} of {len(checked)} met.", ""]
    lines += [f"- {'met' if ok else '**missed**'}: {text}" for ok, text in sorted(checked, key=lambda item: item[0])]
    lines += ["", "## Notes", "", *notes(results), "", "| rival | version | language | resolution | handle |", "|---" * 5 + "|"]
    lines += [f"| {rival['rival']} | {rival['version']} | {rival['language']} | {rival['resolution']} | "
              f"{rival['handle_bytes'] or 'in the node'}{' bytes' if rival['handle_bytes'] else ''} |"
              for rival in data["rivals"]]
    lines += ["", "How each rival is driven, and what nexus-timer and bitwheel leave out: "
              "[bench/README.md](../../bench/README.md).", ""]
    return "\n".join(lines)


def summary(data: dict) -> str:
    """The tables for a terminal."""
    results = Results(data)
    lines = []
    for size in results.sizes:
        lines.append(f"\n{size:,} pending, ns per operation")
        width = max(len(rival) for rival in results.rivals) + 2
        lines.append(" " * 18 + "".join(f"{rival:>{width}}" for rival in results.rivals) + "   ours / best peer")
        for workload in WORKLOADS:
            cells = [results.cells.get((size, workload, rival)) for rival in results.rivals]
            if not any(cells):
                continue
            texts = ["" if cell is None else figure(cell["ns_per_op"]) if "ns_per_op" in cell else "n/a" for cell in cells]
            got = results.ratio(size, workload, results.full_peers + results.lesser_peers)
            last = f"   {got[0]:.2f}x {got[2]}" if got else ""
            lines.append(f"{TITLES[workload]:18}" + "".join(f"{text:>{width}}" for text in texts) + last)
        used = [results.bytes_per_timer(size, rival) for rival in results.rivals]
        if any(used):
            lines.append(f"{'bytes/timer':18}" + "".join(f"{f'{value:.0f}' if value else '':>{width}}" for value in used))
    checked = targets(results)
    if checked:
        lines.append(f"\n{sum(ok for ok, _ in checked)} of {len(checked)} targets met")
        lines += [f"  missed: {text}" for ok, text in checked if not ok]
    return "\n".join(lines)


def chart(data: dict) -> str:
    results = Results(data)
    size = 1_000_000 if 1_000_000 in results.sizes else results.sizes[-1]
    panels = []
    for workload in WORKLOADS:
        values = [results.value(size, workload, rival) for rival in results.rivals]
        if any(values):
            panels.append(charts.Panel(TITLES[workload], "ns", values))
    used = [results.bytes_per_timer(size, rival) for rival in results.rivals]
    if any(used):
        panels.append(charts.Panel("memory per timer", "bytes", used))
    return charts.bars(f"{size_name(size)} pending timers: time per operation, logarithmic; shorter is better",
                       results.rivals, OURS, panels)
