from __future__ import annotations

from assay.benchmarks.weights.tables.result import SuiteResult
from assay.benchmarks.weights.tables.table import Table
from assay.record import Metric

TITLES = {
    "model_size": "Model Size",
    "repository_size": "Repository Size",
    "concurrent_access": "Concurrent Access",
    "hardware_utilization": "Hardware",
}


def points_table(result: SuiteResult) -> Table:
    rows = []
    for scenario in result.scenarios:
        for labels, values in scenario.readings.groups().items():
            place = dict(labels)
            if "point" in place:
                rows.append(
                    (
                        TITLES[scenario.name],
                        place["store"],
                        place["point"],
                        _figure(values, "commit_speed", "{:,.0f} MB/s"),
                        _figure(values, "checkout_speed", "{:,.0f} MB/s"),
                        _figure(values, "cores_used", "{:.2f} cores"),
                        _figure(values, "bottleneck", "{}"),
                    )
                )
    columns = ("Scenario", "Store", "Point", "Commit", "Checkout", "CPU", "Bottleneck")
    return Table("Scalability Points", columns, tuple(rows))


def fits_table(result: SuiteResult, interpretation: tuple[str, ...], notes: tuple[str, ...]) -> Table:
    rows = []
    for scenario in result.scenarios:
        for labels, values in scenario.readings.groups().items():
            if "point" in dict(labels):
                continue
            rows.append(
                (
                    TITLES[scenario.name],
                    dict(labels)["store"],
                    _exponent(values, "commit"),
                    _exponent(values, "checkout"),
                    _figure(values, "commit_degrades_at", "{}"),
                    _figure(values, "checkout_degrades_at", "{}"),
                )
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
        f"{dict(labels)['store']}: {values['parallel_efficiency'].value:.0%} of ideal speed-up with the most users"
        for scenario in result.scenarios
        for labels, values in scenario.readings.groups().items()
        if "parallel_efficiency" in values
    )
    return Table("Scaling Coefficients", columns, tuple(rows), interpretation, (*notes, *efficiency))


def _exponent(values: dict[str, Metric], what: str) -> str:
    if f"{what}_exponent" not in values:
        return "-"
    fit, low, high = (values[f"{what}_exponent{part}"].value for part in ("", "_low", "_high"))
    return f"{fit:.2f} [{low:.2f}, {high:.2f}]"


def _figure(values: dict[str, Metric], name: str, form: str) -> str:
    return form.format(values[name].value) if name in values else "-"
