from __future__ import annotations

import re
from collections.abc import Sequence

from assay.report.exhibits.grid import Cell, Grid
from assay.report.view import MetricView

_NAME = re.compile(r"slowdown\.(?P<who>.+)\.beside\.(?P<beside>.+)\.(?P<what>throughput|p99)(?:\.(?P<bound>low|high))?")
_TITLES = {"throughput": "Slowdown, by throughput", "p99": "Slowdown, by 99th percentile of latency"}
NOTE = "Row: whose slowdown. Column: what ran beside it. 1× is as fast as alone. Grey: the interval holds 1×."


def slowdown_matrices(metrics: Sequence[MetricView]) -> tuple[list[Grid], list[MetricView]]:
    """Matrices of slowdowns, and the metrics that are none. Colocation names one `slowdown.A.beside.B.throughput`, its
    interval the same with `.low` and `.high`."""
    found: dict[str, dict[tuple[str, str], dict[str, float]]] = {}
    rest = []
    for metric in metrics:
        named = _NAME.fullmatch(metric.name)
        if named is None or not metric.values:
            rest.append(metric)
            continue
        cell = found.setdefault(named["what"], {}).setdefault((named["who"], named["beside"]), {})
        cell[named["bound"] or "value"] = float(metric.value)
    return [_matrix(what, cells) for what, cells in found.items()], rest


def _matrix(what: str, cells: dict[tuple[str, str], dict[str, float]]) -> Grid:
    rows = list(dict.fromkeys(who for who, _ in cells))
    columns = list(dict.fromkeys([*rows, *(beside for _, beside in cells)]))
    table = []
    for who in rows:
        shown = {who: Cell("alone", number=True)}
        shown |= {beside: _cell(cells[who, beside]) for beside in columns if (who, beside) in cells}
        table.append((Cell(who), *(shown.get(beside, Cell("–", number=True)) for beside in columns)))
    return Grid(_TITLES[what], ("", *columns), tuple(table), NOTE)


def _cell(cell: dict[str, float]) -> Cell:
    if "value" not in cell:
        return Cell("–", number=True)
    return slowdown_cell(cell["value"], cell.get("low"), cell.get("high"))


def slowdown_cell(value: float, low: float | None, high: float | None) -> Cell:
    """Coloured where the whole interval lies above 1, and where no interval was measured; grey where it holds 1."""
    # Twice as slow is as red as it gets.
    heat, text = max(0.0, min(1.0, value - 1.0)), f"{value:.2f}×"
    if low is None or high is None:
        return Cell(text, number=True, heat=heat)
    # Written so that NaN is never certain.
    slower, faster = low > 1, high < 1
    text += f" ({low:.2f} to {high:.2f})"
    return Cell(text, number=True, heat=heat if slower else 0.0, unsure=not (slower or faster))
