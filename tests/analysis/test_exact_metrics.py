"""Counts, sizes, ratios, accuracy, digests: any change is a change, from one run."""

from __future__ import annotations

from typing import Any

import pytest
from tests.analysis.records import record

from assay.analysis import Comparison, MetricRule, Row, Rules, Verdict, compare

COUNTS = " (an exact metric: any change counts)"
BETTER, WORSE = f", which is better{COUNTS}", f", which is worse{COUNTS}"


def _sides(before: Any, after: Any, name: str = "compression_ratio", **more: Any) -> Comparison:
    base = [record(metrics={name: {"value": before, "exact": True, **more}})]
    head = [record(metrics={name: {"value": after, "exact": True, **more}}, session="head")]
    return compare(base, head)


def _row(comparison: Comparison, metric: str = "compression_ratio") -> Row:
    return next(row for row in comparison.rows if row.metric == metric)


def test_a_compression_ratio_that_halves_is_red() -> None:
    comparison = _sides(4.0, 2.0)
    row = _row(comparison)
    assert (row.verdict, row.design, row.ratio, row.margin) == (Verdict.REGRESSED, "exact", 0.5, 0.0)
    assert row.reason == f"4 → 2{WORSE}"
    assert comparison.regression_detected is True
    assert comparison.exit_code() == 3


@pytest.mark.parametrize(
    ("before", "after", "more", "verdict", "reason"),
    [
        (4.0, 4.0, {}, Verdict.EQUIVALENT, "exactly 4 on both sides"),
        (4, 4.0, {}, Verdict.EQUIVALENT, "exactly 4 on both sides"),
        (0.9312, 0.9313, {"better": "higher"}, Verdict.IMPROVED, f"0.9312 → 0.9313{BETTER}"),
        (10**6, 10**6 + 1, {"better": "lower"}, Verdict.REGRESSED, f"1000000 → 1000001{WORSE}"),
        (0, 3, {"better": "lower"}, Verdict.REGRESSED, f"0 → 3{WORSE}"),
        (-2.0, -1.0, {"better": "higher"}, Verdict.IMPROVED, f"-2 → -1{BETTER}"),
        (0.9, float("nan"), {"better": "higher"}, Verdict.REGRESSED, "0.9 → nan: no number any more"),
        (float("nan"), float("nan"), {}, Verdict.EQUIVALENT, "exactly nan on both sides"),
        ("ab12", "ab12", {}, Verdict.EQUIVALENT, "exactly 'ab12' on both sides"),
        ("ab12", "cd34", {}, Verdict.REGRESSED, f"changed: 'ab12' → 'cd34'{COUNTS}"),
        (True, False, {"better": "higher"}, Verdict.REGRESSED, f"true → false{WORSE}"),
    ],
)  # fmt: skip
def test_one_run_is_enough(before: Any, after: Any, more: dict[str, Any], verdict: Verdict, reason: str) -> None:
    row = _row(_sides(before, after, **more))
    assert (row.verdict, row.reason) == (verdict, reason)


@pytest.mark.parametrize(("name", "unit"), [("num_rows", None), ("total_filtered_dur_s", "s")])
def test_a_change_without_a_direction_is_a_regression(name: str, unit: str | None) -> None:
    """Seconds that are counted in the data are no time that passed, so less is not better by itself."""
    comparison = _sides(100, 90, name, unit=unit)
    row = _row(comparison, name)
    assert row.verdict is Verdict.REGRESSED
    of = f" {unit}" if unit else ""
    assert row.reason == (
        f"changed: 100 → 90{of} (an exact metric: any change counts; if one direction is good, declare "
        "`better: higher` or `better: lower`)"
    )
    assert (comparison.regression_detected, comparison.exit_code()) == (True, 3)
    assert f"{name}: changed: 100 → 90" in comparison.reason


def test_only_a_declared_direction_makes_a_change_an_improvement() -> None:
    """A name may say what is worse; that a count moved the other way by itself is no improvement."""
    assert _row(_sides(4.0, 5.0)).verdict is Verdict.REGRESSED
    assert _row(_sides(4.0, 5.0, better="higher")).verdict is Verdict.IMPROVED
    assert _row(_sides(18_140, 17_778, "rows", better="lower"), "rows").verdict is Verdict.IMPROVED


def test_an_exact_metric_is_named_first() -> None:
    def runs(time: float, rows: int, session: str) -> list[Any]:
        metrics = {"time_s": time, "rows": {"value": rows, "exact": True}}
        return [record(metrics={**metrics, "time_s": time + n / 1000}, run=n, session=session) for n in range(8)]

    comparison = compare(runs(1.0, 18_140, "base"), runs(3.0, 17_778, "head"))
    assert [row.metric for row in comparison.regressed] == ["rows", "time_s"]
    assert comparison.reason.startswith("entry rows: changed: 18140 → 17778")


def test_only_a_margin_for_this_very_metric_counts() -> None:
    base = [record(metrics={"compression_ratio": {"value": 4.0, "exact": True}})]
    head = [record(metrics={"compression_ratio": {"value": 3.9, "exact": True}}, session="head")]
    assert _row(compare(base, head, rules=Rules().with_margins(["5%"]))).verdict is Verdict.REGRESSED
    declared = _row(compare(base, head, rules=Rules().with_margins(["compression_ratio=5%"])))
    assert (declared.verdict, declared.reason) == (Verdict.EQUIVALENT, "4 → 3.9, within 5%")


def test_a_program_may_declare_the_margin_of_its_own_metric() -> None:
    """Bytes on disk of a store that keeps the time of each commit."""
    nearly = _row(_sides(8_169_385, 8_169_384, "stored_bytes", better="lower", margin=0.001), "stored_bytes")
    assert (nearly.verdict, nearly.reason) == (Verdict.EQUIVALENT, "8169385 → 8169384, within 0.1%")
    more = _row(_sides(8_169_385, 8_269_384, "stored_bytes", better="lower", margin=0.001), "stored_bytes")
    assert more.verdict is Verdict.REGRESSED


def test_declared_by_a_rule_or_by_one_side_only() -> None:
    base = [record(metrics={"compression_ratio": 4.0})]
    head = [record(metrics={"compression_ratio": 2.0}, session="head")]
    assert _row(compare(base, head)).verdict is Verdict.INCONCLUSIVE
    rules = Rules({("*", "compression_ratio"): MetricRule(exact=True)})
    assert _row(compare(base, head, rules=rules)).verdict is Verdict.REGRESSED
    newer = [record(metrics={"compression_ratio": {"value": 2.0, "exact": True}}, session="head")]
    assert _row(compare(base, newer)).verdict is Verdict.REGRESSED
    never = Rules({("*", "compression_ratio"): MetricRule(exact=False)})
    assert _row(compare(base, newer, rules=never)).verdict is Verdict.INCONCLUSIVE


def test_what_varies_between_runs_of_one_side_is_not_exact() -> None:
    values = [4.0, 4.1, 4.0, 4.2, 4.0, 4.1]
    base = [record(metrics={"compression_ratio": {"value": v, "exact": True}}, run=i) for i, v in enumerate(values)]
    head = [record(metrics={"compression_ratio": {"value": 2.0, "exact": True}}, run=i) for i in range(6)]
    row = _row(compare(base, head))
    assert (row.verdict, row.design) == (Verdict.REGRESSED, "unpaired")
    assert "declared exact, but runs in A gave 4 and 4.1" in row.notes
    few = _row(compare(base[:2], head[:2]))
    assert few.verdict is Verdict.INCONCLUSIVE
    assert few.reason.startswith("can't tell from 2 and 2 runs")
    assert "declared exact, but runs in A gave 4 and 4.1" in few.notes


def test_a_digest_that_varies_says_so() -> None:
    base = [record(metrics={"digest": {"value": v, "exact": True}}, run=i) for i, v in enumerate("ab")]
    row = _row(compare(base, base), "digest")
    assert row.verdict is Verdict.NOT_COMPARABLE
    assert "declared exact, but runs in A gave 'a' and 'b'" in row.notes
