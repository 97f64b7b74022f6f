"""Every metric that Assay's own code gives, with unit and direction, from the syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.site.reference.sources import PACKAGE, trees

GROUPS = {
    "record": "Every run",
    "session": "Services",
    "pytest_plugin": "pytest",
    "benchmarks/weight": "Weight suites",
    "benchmarks/colocation_metrics.py": "Colocation",
    "benchmarks/colocation_benchmark.py": "Colocation",
    "benchmarks/load_benchmark.py": "Load on an endpoint",
    "loadgen/serving": "Load on an endpoint",
    "benchmarks": "Curation programs",
    "stages": "Stages of models",
}
"""The longest beginning of a file's path says which part of the page its metrics are in."""
ORDER = tuple(dict.fromkeys(GROUPS.values()))
WRITTEN = {
    "Services": ("service_<name>_mean", "service_<name>_max", "service_<name>_increase"),
    "Load on an endpoint": (
        "input_tokens",
        "output_tokens",
        "input_tokens_by_tokenizer",
        "output_tokens_by_tokenizer",
    ),
    "Colocation": ("slowdown.<pipeline>.beside.<beside>.<what>", "<pipeline>.<stage>.<figure>"),
}
"""Metrics whose names the code puts together further away from where it gives them."""
MAKERS = {"metric": 0, "Metric": 0}
FIELDS = ("value", "unit", "better", "samples", "exact")
"""Parameters that `metric(name, …)`, `Metric(name, …)` and a suite's `add(name, …)` all have, in this order."""


@dataclass(frozen=True, order=True)
class MetricRow:
    group: str
    name: str
    """`<stage>` stands for a part that differs."""
    unit: str = ""
    better: str = ""
    exact: bool = False


@cache
def metric_rows() -> tuple[MetricRow, ...]:
    found = {row for path, tree in trees().items() if (group := _group(path)) for row in _rows(group, tree)}
    found |= {MetricRow(group, name) for group, names in WRITTEN.items() for name in names}
    best: dict[tuple[str, str], MetricRow] = {}
    for row in sorted(found):
        known = best.get((row.group, row.name))
        best[row.group, row.name] = row if known is None or (row.unit and not known.unit) else known
    return tuple(best.values())


def _group(path: Path) -> str | None:
    inside = path.relative_to(PACKAGE).as_posix()
    fitting = [beginning for beginning in GROUPS if inside.startswith(beginning)]
    return GROUPS[max(fitting, key=len)] if fitting else None


def _rows(group: str, tree: ast.Module) -> Iterator[MetricRow]:
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        maker = ast.unparse(call.func).rpartition(".")[2]
        if maker in ("metrics", "counts"):
            yield from (MetricRow(group, key.arg, exact=maker == "counts") for key in call.keywords if key.arg)
        elif (maker in MAKERS or (maker == "add" and group == "Weight suites" and len(call.args) > 1)) and (
            name := _name(call.args[0] if call.args else None)
        ):
            if group == "Colocation":
                name = name.replace("<name>", "<pipeline>")
            yield MetricRow(group, name, _word(call, "unit"), _word(call, "better"), _word(call, "exact") == "True")
    if group == "Services":
        yield from _service_rows(tree)


def _service_rows(tree: ast.Module) -> Iterator[MetricRow]:
    """`metrics["service_cpu_s"] = _lower(…, "s")`."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Subscript(slice=name)]) if (said := _name(name)) and said.startswith(
                "service_"
            ):
                yield from _service_row(said, node.value)
            case ast.Dict(keys=[first, *_], values=[value, *_]) if (said := _name(first)) and said.startswith(
                "service_"
            ):
                yield from _service_row(said, value)


def _service_row(name: str, value: ast.expr) -> Iterator[MetricRow]:
    """Without a unit it is no metric but another mapping of the package."""
    unit, better = _lower(value)
    if unit:
        yield MetricRow("Services", name, unit, better)


def _lower(value: ast.expr) -> tuple[str, str]:
    match value:
        case ast.Call(func=ast.Name(id="_lower"), args=[_, ast.Constant(value=str(unit))]):
            return unit, "lower"
        case ast.Dict(keys=keys, values=values):
            said = {_name(key): _name(item) for key, item in zip(keys, values, strict=True)}
            return said.get("unit") or "", said.get("better") or ""
    return "", ""


def _name(node: ast.expr | None) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=pieces):
            return "".join(_piece(piece) for piece in pieces)
    return None


def _piece(piece: ast.expr) -> str:
    match piece:
        case ast.Constant(value=text):
            return str(text)
        case ast.FormattedValue(value=value):
            return f"<{ast.unparse(value).rpartition('.')[2].strip('()').replace('_', ' ')}>"
    return "<…>"


def _word(call: ast.Call, field: str) -> str:
    """What a call says of unit, direction or exactness, where it says it in so many words."""
    given = {key.arg: key.value for key in call.keywords}
    at = FIELDS.index(field) + 1
    node = given.get(field) or (call.args[at] if at < len(call.args) and field != "exact" else None)
    return str(node.value) if isinstance(node, ast.Constant) and node.value not in (None, False) else ""
