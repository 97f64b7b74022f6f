"""Suites of weight stores in the report: sizes against the limit, size against speed, and which store to choose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from session_factory import MadeRun, make_session
from weight_metrics import BEATEN, DTYPES, SCENARIOS, STORES, weight_metrics

from assay.report.exhibits.weights import StoreReading, WeightExhibit, store_points, store_readings
from assay.report.html import render_report
from assay.report.session_view import MetricView, SessionView


@pytest.fixture
def metrics(tmp_path: Path) -> tuple[MetricView, ...]:
    folder = make_session(tmp_path, [MadeRun("weights", weight_metrics())])
    return SessionView.of(folder).entries[0].metrics()


@pytest.fixture
def shown(metrics: tuple[MetricView, ...]) -> WeightExhibit:
    found, _ = WeightExhibit.of(metrics)
    assert found is not None
    return found


def test_every_scenario_has_its_sizes_and_its_limit_on_one_scale(shown: WeightExhibit) -> None:
    assert len(shown.sizes) == len(SCENARIOS) * len(DTYPES)
    row = shown.sizes[0]
    assert row.case == "similar, float32"
    assert row.limit == pytest.approx(1 / 11.9)
    assert {store: share for store, _, share in row.stores}["safetensors"] == 1.0
    assert all(row.limit and row.limit <= share * 1.001 for row in shown.sizes for _, _, share in row.stores)
    assert shown.most == 1.0


def test_the_answer_names_the_smallest_and_the_fastest_and_those_beaten_in_both(shown: WeightExhibit) -> None:
    smallest, commits, checkouts, beaten = shown.answer
    assert smallest.startswith("Smallest: assay-balanced, ")
    assert commits.startswith("Commits fastest: safetensors, ")
    assert checkouts.startswith("Checks out fastest: safetensors, ")
    assert beaten == f"Another store is both smaller and commits faster than: {BEATEN}."


def test_no_store_on_the_front_is_beaten_in_both(metrics: tuple[MetricView, ...]) -> None:
    points = store_points(store_readings(metrics)[0], "commit_speed")
    assert {point.store for point in points if point.best} == set(STORES)


def test_stores_are_compared_on_what_all_of_them_ran() -> None:
    """One that left the hard case out would look best."""
    both = [
        StoreReading(case, "float32", "a", {"compression_ratio": ratio, "commit_speed": 10.0})
        for case, ratio in (("easy", 8.0), ("hard", 1.0))
    ]
    one = StoreReading("easy", "float32", "b", {"compression_ratio": 7.0, "commit_speed": 10.0})
    a, b = store_points([*both, one], "commit_speed")
    assert (a.size, b.size) == pytest.approx((1 / 8, 1 / 7))
    assert (a.best, b.best) == (True, False)


def test_the_map_is_redder_where_more_is_left_to_gain(shown: WeightExhibit) -> None:
    assert shown.map is not None
    heat = {store: cell.heat for store, cell in zip(shown.map.columns, shown.map.rows[0], strict=True)}
    assert (heat["assay-balanced"] or 0) < (heat["zstd"] or 0) < (heat["safetensors"] or 0)
    assert shown.map.rows[0][1].text == "11.57× (97%)"


def test_other_suites_have_their_charts(shown: WeightExhibit) -> None:
    assert shown.operations is not None
    assert shown.operations.columns == ("", *STORES)
    assert [plot.title for plot in shown.plots] == ["Commit by model size", "Memory after each commit"]
    assert shown.plots[0].x == pytest.approx((5.0, 6.0, 7.0))


def test_what_is_drawn_is_not_told_again(metrics: tuple[MetricView, ...]) -> None:
    _, rest = WeightExhibit.of(metrics)
    names = [metric.name for metric in rest]
    assert not [name for name in names if name.endswith(("compression_ratio", "of_limit"))]
    assert [name for name in names if name.endswith("wrong_tensors")]


def test_metrics_of_other_programs_are_left_alone() -> None:
    ratio = MetricView("compression.ratio", 3.0, None, None, (3.0,), ())
    nothing = MetricView("compression.a.b.c.compression_ratio", 0.0, None, None, (0.0,), ())
    words = MetricView("compression.a.b.c.compression_ratio", "x", None, None, (), ())
    for metric in (ratio, nothing, words):
        assert WeightExhibit.of([metric]) == (None, [metric])


def test_hostile_names_of_stores_are_text(tmp_path: Path) -> None:
    bad = {name.replace("zstd", "<b onload=x>"): value for name, value in weight_metrics().items()}
    page = render_report(make_session(tmp_path, [MadeRun("weights", bad)]))
    assert "<b onload" not in page
    assert "&lt;b onload=x&gt;" in page
    assert len(re.findall(r'<svg class="scatter"', page)) == 2
