"""Bar charts as SVG, readable on light and dark pages: one small panel per measurement, one bar per rival."""
import dataclasses
import math
from xml.sax.saxutils import escape

STYLE = """
  text { font: 12px ui-sans-serif, system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #4b5563; }
  .title { font-size: 15px; font-weight: 600; fill: #1f2937; }
  .panel { font-weight: 600; fill: #1f2937; }
  .ours { font-weight: 700; fill: #c2410c; }
  .value { font-size: 11px; }
  .none { font-size: 11px; fill: #9ca3af; }
  .bar { fill: #9db2cc; } .bar.best { fill: #ea580c; }
  .axis { stroke: #9ca3af; stroke-opacity: .5; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #b6bfcb; } .title, .panel { fill: #eef2f7; } .ours { fill: #fb923c; } .none { fill: #6b7280; }
    .bar { fill: #5b7290; } .bar.best { fill: #f97316; }
  }
"""
ROW, BAR, COLUMNS = 18, 12, 4
NAMES, PANEL, GAP, LABEL = 104, 176, 22, 44  # widths: names at the left, a panel, between panels, a value's label


@dataclasses.dataclass
class Panel:
    title: str
    unit: str
    values: list[float | None]


def label(value: float) -> str:
    if value >= 9_950:
        return f"{value / 1000:.0f}k"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def bar_length(value: float, panel: Panel) -> float:
    """Logarithmic, so that the least value still has a visible bar and the greatest fills the panel."""
    known = [item for item in panel.values if item]
    low, high = math.log10(min(known)) - 0.5, math.log10(max(known))
    return max(3.0, (math.log10(value) - low) / (high - low) * (PANEL - LABEL))


def draw_panel(panel: Panel, rivals: list[str], ours: str, left: float, top: float) -> list[str]:
    parts = [f'<text class="panel" x="{left}" y="{top}">{escape(panel.title)}, {panel.unit}</text>']
    bottom = top + 10 + ROW * len(rivals)
    parts.append(f'<line class="axis" x1="{left}" y1="{top + 8}" x2="{left}" y2="{bottom}"/>')
    for index, (rival, value) in enumerate(zip(rivals, panel.values)):
        y = top + 12 + ROW * index
        middle = y + BAR / 2 + 4
        if not value:
            parts.append(f'<text class="none" x="{left + 5}" y="{middle}">n/a</text>')
            continue
        length = bar_length(value, panel)
        mine = rival == ours
        parts.append(f'<rect class="bar{" best" if mine else ""}" x="{left}" y="{y}" width="{length:.1f}" '
                     f'height="{BAR}" rx="2"/>')
        parts.append(f'<text class="value{" ours" if mine else ""}" x="{left + length + 4:.1f}" y="{middle}">'
                     f"{label(value)}</text>")
    return parts


def bars(title: str, rivals: list[str], ours: str, panels: list[Panel]) -> str:
    columns = min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns) if panels else 0
    height_each = ROW * len(rivals) + 46
    width = NAMES + columns * (PANEL + GAP) + 8
    height = 40 + lines * height_each
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" role="img">', f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
             f'<text class="title" x="8" y="22">{escape(title)}</text>']
    for line in range(lines):
        top = 56 + line * height_each
        for index, rival in enumerate(rivals):
            y = top + 12 + ROW * index + BAR / 2 + 4
            parts.append(f'<text{" class=" + chr(34) + "ours" + chr(34) if rival == ours else ""} x="{NAMES - 8}" y="{y}" '
                         f'text-anchor="end">{escape(rival)}</text>')
        for column, panel in enumerate(panels[line * columns:(line + 1) * columns]):
            parts += draw_panel(panel, rivals, ours, NAMES + column * (PANEL + GAP), top)
    return "\n".join(parts + ["</svg>"]) + "\n"
