from __future__ import annotations

from collections.abc import Mapping

from assay.benchmarks.weights.tables.readings import ResultLine
from assay.benchmarks.weights.tables.result import SuiteResult
from assay.benchmarks.weights.tables.table import Table
from assay.record import Metric


def strategies_table(result: SuiteResult, titles: Mapping[str, str]) -> Table:
    rows = []
    for strategy, title in titles.items():
        line = _line_of(result, "strategy_comparison", strategy)
        rows.append(
            (
                title,
                line.figure("clusters"),
                line.figure("compression_ratio", "{:.2f}x"),
                line.figure("compression_improvement", "{:.2f}x"),
                line.figure("clustering_time", "{:.3f}"),
                line.figure("silhouette", "{:.2f}"),
                line.figure("davies_bouldin", "{:.2f}"),
                line.figure("adjusted_rand", "{:.2f}"),
                line.figure("memory_overhead", "{:.1f}%"),
                _line_of(result, "scalability", strategy).interval("time_exponent"),
            )
        )
    columns = ("Strategy", "Clusters", "Compression", "Improvement", "Time (s)", "Silhouette", "Davies-Bouldin")
    return Table("Clustering Efficiency", (*columns, "Families", "Memory", "Time Exponent"), tuple(rows))


def details_table(result: SuiteResult, titles: Mapping[str, str], interpretation: tuple[str, ...]) -> Table:
    rows = [
        (
            f"members {line.labels['step']} apart"
            if "step" in line.labels
            else f"models of {line.labels['added']} families added",
            titles[line.labels["strategy"]],
            line.figure("clusters"),
            line.figure("adjusted_rand", "{:.2f}"),
            line.figure("silhouette", "{:.2f}"),
            line.figure("of_whole_time", "{:.2f}x"),
        )
        for line in result.lines()
        if "step" in line.labels or "added" in line.labels
    ]
    columns = ("Case", "Strategy", "Clusters", "Families", "Silhouette", "Rebalance / Anew")
    return Table("Cluster Quality and Rebalancing", columns, tuple(sorted(rows)), interpretation, result.notes)


def _line_of(result: SuiteResult, scenario: str, strategy: str) -> ResultLine:
    """Readings of a strategy without the points of a scan; the first of several stores."""
    metrics: dict[str, Metric] = {}
    for line in result.lines():
        if line.scenario == scenario and line.labels["strategy"] == strategy and "point" not in line.labels:
            metrics = {**line.metrics, **metrics}
    return ResultLine({"strategy": strategy}, metrics)
