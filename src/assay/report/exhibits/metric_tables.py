"""Metrics that are more than a number, found by shape and shown as tables.

- a list of objects (`[{"rate": 100, "p99_ms": 3.1}, …]`) is a table of rows;
- an object of objects of numbers (`{"a": {"a": 1.0, "b": 1.4}, …}`) is a matrix, one of slowdowns if it says so;
- numbers under dotted names (`compression.similar_models.ratio`, `compression.checkpoints.ratio`) are a table with a
  row for each name before the last dot.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.record.metric import as_float
from assay.report.exhibits.plots import Cell, Grid
from assay.report.quantity import number, quantity
from assay.report.session_view import MetricView

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
        shown |= {beside: _ratio_cell(cells[who, beside]) for beside in columns if (who, beside) in cells}
        table.append((Cell(who), *(shown.get(beside, Cell("–", number=True)) for beside in columns)))
    return Grid(_TITLES[what], ("", *columns), tuple(table), NOTE)


def _ratio_cell(cell: dict[str, float]) -> Cell:
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


MOST_ROWS = 60
MOST_COLUMNS = 16


def table_of_rows(metric: MetricView) -> Grid | None:
    value = metric.value
    if not (isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value)):
        return None
    columns = tuple(dict.fromkeys(str(key) for row in value for key in row))[:MOST_COLUMNS]
    rows = tuple(tuple(_cell(row.get(column)) for column in columns) for row in value[:MOST_ROWS])
    left = len(value) - MOST_ROWS
    return Grid(metric.name, columns, rows, f"{left} more rows are in metrics.json" if left > 0 else "")


def matrix(metric: MetricView) -> Grid | None:
    value = metric.value
    if not _is_matrix(value):
        return None
    columns = tuple(dict.fromkeys(str(key) for row in value.values() for key in row))[:MOST_COLUMNS]
    slowdown = "slow" in metric.name.lower()
    rows = []
    for name, row in list(value.items())[:MOST_ROWS]:
        cells = [_matrix_cell(row.get(column), slowdown) for column in columns]
        rows.append((Cell(str(name)), *cells))
    note = "Row: whose speed is meant. Column: what ran beside it. 1 is as fast as alone." if slowdown else ""
    return Grid(metric.name, ("", *columns), tuple(rows), note)


def _is_matrix(value: Any) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    rows = list(value.values())
    return all(isinstance(row, Mapping) and row and all(_is_reading(item) for item in row.values()) for row in rows)


def _is_reading(item: Any) -> bool:
    if item is None:
        return True
    if isinstance(item, Mapping):
        return isinstance(item.get("value", item.get("median")), int | float)
    return isinstance(item, int | float) and not isinstance(item, bool)


def _matrix_cell(item: Any, slowdown: bool) -> Cell:
    """A number, or `{value, low, high}` where an interval was measured."""
    if item is None:
        return Cell("–", number=True)
    low = high = None
    if isinstance(item, Mapping):
        low, high = item.get("low"), item.get("high")
        item = item.get("value", item.get("median"))
    value = as_float(item)
    least = most = None
    if isinstance(low, int | float) and isinstance(high, int | float):
        least, most = as_float(low), as_float(high)
    if slowdown:
        return slowdown_cell(value, least, most)
    return Cell(number(value) + (f" ({least:.2f} to {most:.2f})" if least is not None else ""), number=True)


def tabulate_dotted(metrics: Sequence[MetricView]) -> tuple[list[Grid], list[MetricView]]:
    """Tables, and what fits into none. A table needs two rows with a column in common."""
    groups: dict[str, dict[str, dict[str, MetricView]]] = {}
    for metric in metrics:
        # Not before a digit: `p99.9_s` is one name.
        parts = re.split(r"\.(?!\d)", metric.name)
        if len(parts) < 2 or not metric.values or parts[0] == "usage":
            continue
        suite, name = (parts[0], ".".join(parts[1:-1])) if len(parts) > 2 else ("", parts[0])
        groups.setdefault(suite, {}).setdefault(name, {})[parts[-1]] = metric
    grids: list[Grid] = []
    used: set[str] = set()
    for suite, rows in groups.items():
        counted: dict[str, int] = {}
        for row in rows.values():
            for column in row:
                counted[column] = counted.get(column, 0) + 1
        columns = tuple(column for column, count in counted.items() if count > 1)[:MOST_COLUMNS]
        named = {name: row for name, row in rows.items() if any(column in row for column in columns)}
        if len(named) < 2 or not columns:
            continue
        used.update(row[column].name for row in named.values() for column in columns if column in row)
        cells = tuple((Cell(name), *(_reading(row.get(column)) for column in columns)) for name, row in named.items())
        grids.append(Grid(suite or "by part", ("", *columns), cells[:MOST_ROWS]))
    return grids, [metric for metric in metrics if metric.name not in used]


def _reading(metric: MetricView | None) -> Cell:
    return Cell("–", number=True) if metric is None else Cell(quantity(metric.value, metric.unit), number=True)


def _cell(value: Any) -> Cell:
    if isinstance(value, Mapping | list):
        return Cell(str(value)[:80])
    return Cell(quantity(value), number=isinstance(value, int | float) and not isinstance(value, bool))
