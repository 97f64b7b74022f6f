from __future__ import annotations

from collections.abc import Mapping

from assay.benchmarks.weights.tables.readings import Readings
from assay.benchmarks.weights.tables.result import SuiteResult
from assay.benchmarks.weights.tables.table import Table
from assay.record import Metric


def strategies_table(result: SuiteResult, titles: Mapping[str, str]) -> Table:
    found = {scenario.name: scenario.readings for scenario in result.scenarios}
    rows = []
    for strategy, title in titles.items():
        values = _of_strategy(found.get("strategy_comparison"), strategy)
        growth = _of_strategy(found.get("scalability"), strategy)
        rows.append(
            (
                title,
                _figure(values, "clusters", "{}"),
                _figure(values, "compression_ratio", "{:.2f}x"),
                _figure(values, "compression_improvement", "{:.2f}x"),
                _figure(values, "clustering_time", "{:.3f}"),
                _figure(values, "silhouette", "{:.2f}"),
                _figure(values, "davies_bouldin", "{:.2f}"),
                _figure(values, "adjusted_rand", "{:.2f}"),
                _figure(values, "memory_overhead", "{:.1f}%"),
                _exponent(growth),
            )
        )
    columns = ("Strategy", "Clusters", "Compression", "Improvement", "Time (s)", "Silhouette", "Davies-Bouldin")
    return Table("Clustering Efficiency", (*columns, "Families", "Memory", "Time Exponent"), tuple(rows))


def details_table(result: SuiteResult, titles: Mapping[str, str], interpretation: tuple[str, ...]) -> Table:
    rows = []
    for scenario in result.scenarios:
        for labels, values in scenario.readings.groups().items():
            place = dict(labels)
            if "step" in place or "added" in place:
                what = (
                    f"members {place['step']} apart"
                    if "step" in place
                    else f"models of {place['added']} families added"
                )
                rows.append(
                    (
                        what,
                        titles[place["strategy"]],
                        _figure(values, "clusters", "{}"),
                        _figure(values, "adjusted_rand", "{:.2f}"),
                        _figure(values, "silhouette", "{:.2f}"),
                        _figure(values, "of_whole_time", "{:.2f}x"),
                    )
                )
    notes = tuple(note for scenario in result.scenarios for note in scenario.readings.notes)
    columns = ("Case", "Strategy", "Clusters", "Families", "Silhouette", "Rebalance / Anew")
    return Table("Cluster Quality and Rebalancing", columns, tuple(sorted(rows)), interpretation, notes)


def _of_strategy(readings: Readings | None, strategy: str) -> dict[str, Metric]:
    """Without points of a scan; of several stores the first."""
    values: dict[str, Metric] = {}
    for row in readings.where(strategy=strategy) if readings is not None else ():
        if "point" not in row.labels:
            values.setdefault(row.what, row.metric)
    return values


def _figure(values: Mapping[str, Metric], name: str, form: str) -> str:
    return form.format(values[name].value) if name in values else "-"


def _exponent(values: Mapping[str, Metric]) -> str:
    if "time_exponent" not in values:
        return "-"
    fit, low, high = (values[f"time_exponent{part}"].value for part in ("", "_low", "_high"))
    return f"{fit:.2f} [{low:.2f}, {high:.2f}]"
