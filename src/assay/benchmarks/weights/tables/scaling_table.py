from __future__ import annotations

from assay.benchmarks.weights.tables.result import SuiteResult
from assay.benchmarks.weights.tables.table import Table

TITLES = {
    "model_size": "Model Size",
    "repository_size": "Repository Size",
    "concurrent_access": "Concurrent Access",
    "hardware_utilization": "Hardware",
}


def points_table(result: SuiteResult) -> Table:
    rows = tuple(
        (
            TITLES[line.scenario],
            line.store,
            line.labels["point"],
            line.figure("commit_speed", "{:,.0f} MB/s"),
            line.figure("checkout_speed", "{:,.0f} MB/s"),
            line.figure("cores_used", "{:.2f} cores"),
            line.figure("bottleneck"),
        )
        for line in result.lines()
        if "point" in line.labels
    )
    columns = ("Scenario", "Store", "Point", "Commit", "Checkout", "CPU", "Bottleneck")
    return Table("Scalability Points", columns, rows)


def fits_table(result: SuiteResult, interpretation: tuple[str, ...]) -> Table:
    lines = [line for line in result.lines() if "point" not in line.labels]
    rows = tuple(
        (
            TITLES[line.scenario],
            line.store,
            line.interval("commit_exponent"),
            line.interval("checkout_exponent"),
            line.figure("commit_degrades_at"),
            line.figure("checkout_degrades_at"),
        )
        for line in lines
    )
    columns = (
        "Scenario",
        "Store",
        "Commit Exponent",
        "Checkout Exponent",
        "Commit Degrades",
        "Checkout Degrades",
    )
    efficiency = tuple(
        f"{line.store}: {line['parallel_efficiency']:.0%} of ideal speed-up with the most users"
        for line in lines
        if "parallel_efficiency" in line
    )
    return Table("Scaling Coefficients", columns, rows, interpretation, (*result.notes, *efficiency))
