"""`colocation.json` read by who trusts nothing in it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from colocation_file import made_matrix, write_colocation

from assay.analysis.colocation.colocation_result import ColocationResult
from assay.analysis.colocation.pipeline_run import TimeHistogram, pool_shares
from assay.analysis.colocation.slowdown import RateTrial, SlowdownEstimate, knee
from assay.analysis.fields import Fields
from assay.errors import DataError


def read(folder: Path, written: Any) -> ColocationResult:
    return ColocationResult.read(write_colocation(folder, written))


def test_all_of_a_matrix_is_read(tmp_path: Path) -> None:
    result = read(tmp_path, made_matrix(("api", "batch"), {("api", "batch"): 1.6}))
    assert (result.kind, result.names) == ("matrix", ("api", "batch", "api (copy)", "batch (copy)"))
    assert result.groups == (("api", "batch"), ("api", "api (copy)"), ("batch", "batch (copy)"))
    assert [run.round for run in result.rounds(("api", "batch"))] == [1, 2]
    assert len(result.alone("api")) == 2
    assert result.left_out == ()
    one = result.rounds(("api", "batch"))[0].of("api")
    assert one is not None
    assert one.window.p99_s == pytest.approx(0.030 * 1.6)
    assert one.stages[2].busy_s == pytest.approx(one.stages[2].calls * (one.stages[2].mean_s or math.nan))
    both = result.contrast("api", ("api", "batch"))
    assert both is not None
    assert (both.together.queries, both.together.seconds, both.paired) == (1400, pytest.approx(15.8), True)
    own = result.contrast("api", ("api", "api (copy)"))
    assert own is not None
    assert own.own_copy
    whole = [cell for cell in result.estimates if cell.stage is None]
    assert {(cell.pipeline, cell.beside) for cell in whole if cell.own_copy} == {
        ("api", ("api",)),
        ("batch", ("batch",)),
    }


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ([], "holds a list, not what `assay colocate` writes"),
        ({}, "has no version, and a page is made of version 2: run the colocation again"),
        ({"version": 1}, "has version 1, and a page is made of version 2: run the colocation again"),
        ({"version": 3}, "has version 3, and this Assay reads version 2: use a newer one"),
        ({"version": 2}, "has no run that can be read"),
        ({"version": 2, "runs": [7, {}, {"members": ["a"]}]}, "has no run that can be read"),
    ],
)
def test_what_shows_nothing_is_said(tmp_path: Path, written: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, written)
    assert str(caught.value) == f"{tmp_path / 'colocation.json'}: {message}"


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    written = made_matrix(("api", "batch"), {})
    written["cells"][0]["what"] = "colour"
    written["cells"][1]["stage"] = 0.5
    written["runs"][0] = "no run"
    result = read(tmp_path, written)
    assert result.left_out == ("1 of 10 runs", f"2 of {len(written['cells'])} cells")


@pytest.mark.parametrize(
    ("low", "high", "slower"),
    [(1.1, 1.3, True), (0.7, 0.9, False), (0.9, 1.3, None), (1.0, 1.3, None), (0.8, 1.0, None), (None, 1.3, None),
     (1.3, 1.1, None), (math.nan, 2.0, None)],
)  # fmt: skip
def test_the_interval_decides_whatever_the_file_says(low: float | None, high: float, slower: bool | None) -> None:
    written = {"pipeline": "a", "beside": ["b"], "what": "p99", "estimate": 1.2, "low": low, "high": high}
    cell = SlowdownEstimate.read(Fields({**written, "slower": True}))
    assert cell is not None
    assert cell.slower is slower


def test_shares_of_other_bins_keep_the_whole_and_the_place() -> None:
    one = TimeHistogram((0.001, 0.002, 0.004), (30.0, 10.0))
    shares = one.shares((0.0005, 0.001, 0.002, 0.004, 0.008))
    assert shares == pytest.approx((0.0, 0.75, 0.25, 0.0))
    halves = one.shares((0.001, 0.001 * math.sqrt(2), 0.002, 0.004))
    assert halves == pytest.approx((0.375, 0.375, 0.25))
    other = TimeHistogram((0.001, 0.002, 0.004), (0.0, 40.0))
    assert pool_shares([one, other, TimeHistogram()], (0.001, 0.002, 0.004)) == pytest.approx((0.375, 0.625))


@pytest.mark.parametrize(
    "written",
    [
        {"edges_us": [1, 2], "counts": [1, 2]},
        {"edges_us": [2, 1], "counts": [1]},
        {"edges_us": [1, 2], "counts": [-1]},
        {"edges_us": [1, None], "counts": [1]},
        {"edges_us": [1, 2], "counts": [0]},
        {"edges_us": "12", "counts": {}},
    ],
)
def test_a_histogram_that_does_not_fit_is_none(written: dict[str, Any]) -> None:
    assert TimeHistogram.read(Fields(written)) == TimeHistogram()


@pytest.mark.parametrize(
    ("p99", "done", "found"),
    [
        ((1.0, 1.1, 5.0), (100.0, 200.0, 300.0), 200),
        ((1.0, 1.1, 1.2), (100.0, 200.0, 210.0), 200),
        ((1.0, 1.1, 1.2), (100.0, 200.0, 300.0), None),
        ((1.0, 1.1, 9.0), (50.0, 60.0, 70.0), None),
        ((None, None, None), (None, None, None), None),
    ],
)
def test_the_knee_of_a_curve(p99: tuple[float | None, ...], done: tuple[float | None, ...], found: float) -> None:
    trials = [RateTrial(rate, None, "", None, None, ()) for rate in (100.0, 200.0, 300.0)]
    assert knee(trials, p99, done) == found


def test_a_schedule_with_fewer_queries_than_its_rate_is_not_behind() -> None:
    """A short one that is drawn at random: 88 of 100 queries a second were to be sent, and were answered."""
    trials = [RateTrial(rate, None, "", offered, None, ()) for rate, offered in ((100.0, 88.0), (200.0, 190.0))]
    assert knee(trials, (1.0, 3.0), (88.0, 190.0)) == 100
    assert knee(trials, (1.0, 1.5), (88.0, 190.0)) is None
