from __future__ import annotations

import math

import pytest

from assay.record import TaskPerf
from assay.report.exhibits.distribution import common_scales, distribution, percentile_ladder
from assay.report.exhibits.metric_tables import matrix, slowdown_matrices, table_of_rows, tabulate_dotted
from assay.report.exhibits.plots import Cell, curve
from assay.report.exhibits.stages import resource_plots, stage_breakdown, thin
from assay.report.run_folder import UsageSeries
from assay.report.session_view import MetricView


def metric(name: str, value: object, samples: tuple[float, ...] = (), unit: str | None = None) -> MetricView:
    values = (float(value),) if isinstance(value, int | float) else ()
    return MetricView(name, value, unit, None, values, samples)


def texts(row: object) -> list[str]:
    return [cell.text for cell in row]  # type: ignore[attr-defined]


def test_a_histogram_counts_every_sample_and_promises_no_percentile_it_cannot_know() -> None:
    samples = tuple(0.001 * 1.01**i for i in range(300))
    found = distribution(metric("latency_s", 0.004, samples, "s"))
    assert found is not None
    assert sum(one.count for one in found.bins) == 300
    assert [name for name, _ in found.percentiles] == ["p50", "p75", "p90", "p95", "p99"]
    assert dict(found.percentiles)["p50"] == samples[149]
    assert distribution(metric("few", 1.0, samples[:19])) is None
    assert distribution(metric("constant", 1.0, (1.0,) * 50)) is None


def test_stages_share_the_time_and_a_copied_call_counts_once() -> None:
    call = TaskPerf("read", {"process_time": 1.0}, "same")
    [found] = stage_breakdown([call, call, TaskPerf("write", {"process_time": 3.0})])
    stages = found.stages
    assert found.pipeline == ""
    assert [(stage.name, stage.calls, stage.share) for stage in stages] == [("read", 1, 0.25), ("write", 1, 0.75)]
    assert stage_breakdown([TaskPerf("x", {"rows": 3.0})]) == ()


def test_what_is_in_no_stage_is_part_of_the_run() -> None:
    tasks = [TaskPerf("read", {"process_time": 1.0}), TaskPerf("write", {"process_time": 3.0})]
    [found] = stage_breakdown(tasks, 8.0)
    assert [(stage.name, stage.share) for stage in found.stages] == [("read", 0.125), ("write", 0.375)]
    assert (found.untimed_s, found.untimed_share, found.run_s) == (4.0, 0.5, 8.0)


def test_stages_that_overlapped_say_nothing_of_the_rest() -> None:
    tasks = [TaskPerf("read", {"process_time": 6.0}), TaskPerf("write", {"process_time": 6.0})]
    [found] = stage_breakdown(tasks, 8.0)
    assert [stage.share for stage in found.stages] == [0.5, 0.5]
    assert found.untimed_s is None
    named = [TaskPerf(f"{name}/read", {"process_time": 1.0}) for name in ("api", "batch")]
    assert [one.untimed_s for one in stage_breakdown(named, 8.0)] == [None, None]


def test_the_same_metric_of_other_entries_is_drawn_on_one_scale() -> None:
    fast, slow = (metric("latency_s", 1.0, tuple(base + i / 100 for i in range(100)), "s") for base in (1.0, 3.0))
    scales = common_scales([[fast], [slow, metric("other", 1.0, tuple(map(float, range(30))))]])
    assert scales == {("latency_s", "s"): (1.0, 3.99)}
    drawn = [distribution(one, 10, scales["latency_s", "s"]) for one in (fast, slow)]
    for one, at in zip(drawn, (0, -1), strict=True):
        assert one is not None
        assert one.shared
        assert (one.bins[0].low, one.bins[-1].high) == pytest.approx((1.0, 3.99))
        assert sum(part.count for part in one.bins) == 100
        assert one.bins[at].count > 0


def test_entries_that_are_worlds_apart_keep_their_own_scales() -> None:
    fast, slow = (
        metric("latency_s", 1.0, tuple(base * (1 + i / 100) for i in range(100)), "s") for base in (1e-6, 9.0)
    )
    assert common_scales([[fast], [slow]]) == {}


def test_pipelines_that_ran_beside_each_other_have_a_whole_of_their_own() -> None:
    """Named as colocation names them: `pipeline/stage`."""
    times = {"api/read": 1.0, "api/model": 3.0, "batch/read": 40.0}
    found = stage_breakdown([TaskPerf(name, {"process_time": seconds}) for name, seconds in times.items()])
    assert [(one.pipeline, [(stage.name, stage.share) for stage in one.stages]) for one in found] == [
        ("api", [("read", 0.25), ("model", 0.75)]),
        ("batch", [("read", 1.0)]),
    ]


def test_a_call_that_stands_for_others_counts_as_all_of_them() -> None:
    calls = [TaskPerf("model", {"process_time": t, "stands_for": n}) for t, n in ((1.0, 98.0), (51.0, 1.0))]
    [found] = stage_breakdown([*calls, TaskPerf("read", {"process_time": 2.0})])
    model, _ = found.stages
    assert (model.calls, model.seconds, model.p50_s, model.p95_s) == (99, 149.0, 1.0, 1.0)


def test_a_single_stage_with_a_slash_in_its_name_is_no_other_pipeline() -> None:
    [found] = stage_breakdown([TaskPerf(name, {"process_time": 1.0}) for name in ("io/read", "model")])
    assert [(stage.name, stage.share) for stage in found.stages] == [("io/read", 0.5), ("model", 0.5)]


def test_slowdown_as_colocation_writes_it() -> None:
    metrics = [
        metric("slowdown.api.beside.batch.throughput", 1.5),
        metric("slowdown.api.beside.batch.throughput.low", 1.4),
        metric("slowdown.api.beside.batch.throughput.high", 1.6),
        metric("slowdown.batch.beside.api.throughput", 1.1),
        metric("api.throughput", 90.0),
    ]
    [grid], rest = slowdown_matrices(metrics)
    assert grid.columns == ("", "api", "batch")
    assert texts(grid.rows[0]) == ["api", "alone", "1.50× (1.40 to 1.60)"]
    assert texts(grid.rows[1]) == ["batch", "1.10×", "alone"]
    assert grid.rows[0][2].heat == pytest.approx(0.5)
    assert [m.name for m in rest] == ["api.throughput"]


@pytest.mark.parametrize(("low", "high"), [(0.9, 1.6), (1.0, 1.6), (0.5, 0.9), (math.nan, math.nan)])
def test_a_slowdown_whose_interval_holds_1_has_no_colour(low: float, high: float) -> None:
    name = "slowdown.api.beside.batch.p99"
    [grid], _ = slowdown_matrices([metric(name, 1.3), metric(f"{name}.low", low), metric(f"{name}.high", high)])
    shown = matrix(metric("slowdown", {"api": {"batch": {"value": 1.3, "low": low, "high": high}}}))
    assert shown is not None
    for cell in (grid.rows[0][2], shown.rows[0][1]):
        assert not cell.heat, cell


def test_what_cannot_be_told_is_grey_and_what_is_faster_is_not() -> None:
    def cell(low: float, high: float) -> Cell:
        shown = matrix(metric("slowdown", {"api": {"batch": {"value": 1.3, "low": low, "high": high}}}))
        assert shown is not None
        return shown.rows[0][1]

    assert cell(0.9, 1.6).unsure
    assert cell(math.nan, 1.6).unsure
    assert not cell(1.2, 1.6).unsure
    assert not cell(0.5, 0.9).unsure


def test_dotted_names_are_one_table() -> None:
    metrics = [metric(f"compression.{s}.{m}", 1.0) for s in ("mixed", "similar") for m in ("ratio", "saved")]
    [grid], rest = tabulate_dotted([*metrics, metric("alone.x", 2.0), metric("plain", 3.0)])
    assert (grid.title, grid.columns) == ("compression", ("", "ratio", "saved"))
    assert [row[0].text for row in grid.rows] == ["mixed", "similar"]
    assert [m.name for m in rest] == ["alone.x", "plain"]


def test_a_matrix_and_rows_by_shape() -> None:
    shown = matrix(metric("slowdown", {"a": {"a": 1.0, "b": {"value": 3.0, "low": 2.5, "high": 3.5}}}))
    assert shown is not None
    assert texts(shown.rows[0]) == ["a", "1.00×", "3.00× (2.50 to 3.50)"]
    assert shown.rows[0][2].heat == 1.0
    assert matrix(metric("x", {"a": {"b": "text"}})) is None
    rows = table_of_rows(metric("t", [{"a": 1, "b": "x"}, {"a": 2}]))
    assert rows is not None
    assert [texts(row) for row in rows.rows] == [["1", "x"], ["2", "–"]]


@pytest.mark.parametrize("name", ["slowdown", "anything"])
def test_integers_that_no_float_can_hold_are_shown_as_endless(name: str) -> None:
    huge = 10**400
    shown = matrix(metric(name, {"a": {"a": huge, "b": {"value": -huge, "low": -huge, "high": huge}}}))
    assert shown is not None
    assert all("∞" in cell.text or "inf" in cell.text for cell in shown.rows[0][1:])


def test_a_curve_needs_a_load_and_percentiles_in_every_row() -> None:
    rows = [{"rate": r, "p50_ms": 1.0, "p99_ms": 2.0 * r} for r in (3, 1, 2)]
    found = curve(metric("sweep", rows))
    assert found is not None
    assert (found.x, found.lines[1]) == ((1.0, 2.0, 3.0), ("p99_ms", (2.0, 4.0, 6.0)))
    assert curve(metric("sweep", [*rows, {"rate": 4}])) is None


def test_percentiles_by_name() -> None:
    assert percentile_ladder({"count": 3, "p50_us": 1, "p99_us": 2, "p99.9_us": 3}) == {
        "p50_us": 1.0,
        "p99_us": 2.0,
        "p99.9_us": 3.0,
    }
    assert percentile_ladder({"p50": 1}) == {}


def test_thinned_series_keep_their_mean() -> None:
    values = [float(i) for i in range(1000)]
    shown = thin(values, 50)
    assert len(shown) == 50
    assert math.fsum(shown) / 50 == pytest.approx(499.5, rel=0.01)


def test_processor_use_is_the_rate_of_its_time() -> None:
    series = UsageSeries({"t_s": [0.0, 1.0, 2.0], "cpu_s": [0.0, 2.0, 3.0], "rss_mb": [10.0, 20.0, 30.0]})
    cpu, memory = resource_plots(series, 100)
    assert cpu.lines == (("used", (2.0, 2.0, 1.0)),)
    assert memory.says == "resident: mean 20 MB, highest 30 MB"
    assert resource_plots(UsageSeries({"t_s": [0.0]}), 100) == ()
