from __future__ import annotations

from assay.benchmarks.weights.results import BenchmarkResults, Readings, ScenarioResult, SuiteResult
from assay.benchmarks.weights.tables import comparison


def compression(**stores: tuple[float, float]) -> SuiteResult:
    readings = Readings()
    for store, (ratio, speed) in stores.items():
        here = readings.at(store=store.replace("_", "-"), dtype="float32")
        here.add("compression_ratio", ratio)
        here.add("limit_ratio", 8.0)
        here.add("of_limit", ratio / 8 * 100)
        for what in ("commit", "checkout"):
            here.add(f"{what}_speed", speed)
            here.add(f"{what}_of_safetensors", speed / 1000)
        here.add("wrong_tensors", 3 if store == "coral_ml" else 0)
    return SuiteResult("compression", (ScenarioResult("similar", readings),))


def accuracy() -> SuiteResult:
    readings = Readings()
    for store, wrong in (("assay-balanced", 0), ("coral-ml", 7)):
        here = readings.at(store=store)
        here.add("cases", 10)
        here.add("wrong_cases", wrong)
        here.add("refused_cases", 0)
    return SuiteResult("accuracy", (ScenarioResult("edge_cases", readings),))


def test_one_store_has_nothing_to_be_compared_with() -> None:
    assert comparison(BenchmarkResults("p", (compression(assay_balanced=(4, 100)),), 1, 1)) == []
    assert comparison(BenchmarkResults("p", (accuracy(),), 1, 1)) == []


def test_wrong_answers_stand_beside_speed_and_size() -> None:
    suites = (compression(assay_balanced=(4, 300), coral_ml=(2, 50)), accuracy())
    table, by_scenario = comparison(BenchmarkResults("p", suites, 1, 1))
    ours, theirs = table.rows
    assert ours == (
        "assay-balanced",
        "4.00x",
        "50.0% (50.0%)",
        "0.300x (0.300x)",
        "0.300x (0.300x)",
        "none",
        "10 exact",
    )
    assert theirs[5:] == ("3", "7 of 10 WRONG, 0 refused")
    assert by_scenario.rows == (("similar", "float32", "8.00", "4.00", "2.00"),)
    assert (
        "assay-balanced against coral-ml, commit, per CPU-second: 6.0 times as fast (worst 6.0, best 6.0)"
        in table.notes
    )
