"""What is printed under the table of compression is true of a row in it."""

from __future__ import annotations

from assay.benchmarks.weights.compression import CompressionSuite
from assay.benchmarks.weights.results import Readings, ScenarioResult, SuiteResult


def meaning(ratio: float, of_limit: float) -> str:
    readings = Readings()
    here = readings.at(store="assay-balanced", dtype="float32")
    for what, value in (
        ("compression_ratio", ratio), ("space_saved", 100 * (1 - 1 / ratio)), ("of_limit", of_limit),
        ("limit_ratio", ratio / of_limit * 100), ("wrong_tensors", 0),
    ):  # fmt: skip
        here.add(what, value)
    [table] = CompressionSuite().tables(SuiteResult("compression", (ScenarioResult("similar", readings),)))
    return "\n".join(table.interpretation)


def test_limited_similarity_is_not_said_at_98_percent_of_the_limit() -> None:
    assert "Limited similarity" not in meaning(1.5, 98.0)
    assert "little is left to gain" in meaning(1.5, 98.0)
    assert "Limited similarity" in meaning(1.5, 60.0)
    assert "Limited similarity" not in meaning(3.0, 30.0), "the limit is 10x: the store is what limits it"
    assert "the store does not use it" in meaning(3.0, 30.0)


def test_a_meaning_is_given_only_to_figures_that_are_there() -> None:
    assert "Excellent deduplication" in meaning(12.0, 95.0)
    assert ">90% space saved" in meaning(12.0, 95.0)
    assert "Excellent deduplication" not in meaning(6.0, 95.0)
    assert "Good optimization" in meaning(6.0, 95.0)
    assert ">90% space saved" not in meaning(6.0, 95.0)
