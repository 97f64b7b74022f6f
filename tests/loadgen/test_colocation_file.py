"""`colocation.json`: what is drawn and read of it is what happened."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import group, one_after_the_other, pipeline

from assay.loadgen.colocation.colocation import ColocatedRun
from assay.loadgen.colocation.colocation_config import ColocationConfig
from assay.loadgen.colocation.result_files import (
    MOST_BINS,
    MOST_LANES,
    MOST_POINTS,
    edges,
    histogram,
    lanes,
    series,
    write_colocation,
)
from assay.loadgen.colocation.slowdown import Contrast

COSTS = list(np.random.default_rng(5).uniform(0.5, 1.5, 300))


def chain(costs: list[float]) -> list[tuple[int, float, float]]:
    return [(n, begin, end) for n, (begin, end) in enumerate(one_after_the_other(costs))]


def written(folder: Path, *runs: ColocatedRun, contrasts: list[Contrast] | None = None) -> dict[str, Any]:
    pipelines = [one.config.model_dump(mode="json") for one in runs[-1].outcome.pipelines]
    config = ColocationConfig.model_validate({"name": "made", "pipelines": pipelines})
    write_colocation(folder, config, "matrix", runs, contrasts or [])

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    read: dict[str, Any] = json.loads((folder / "colocation.json").read_text(), parse_constant=refuse)
    return read


def test_the_window_of_a_run_is_the_time_together(tmp_path: Path) -> None:
    a, b = pipeline("a", one_after_the_other(COSTS), {0: chain(COSTS)}), pipeline("b", [(0.0, 100.0)])
    found = written(tmp_path, ColocatedRun("a+b", group(a, b)))
    assert (found["version"], found["kind"], found["rates"]) == (2, "matrix", None)
    assert found["pipelines"][0] | {"objectives": []} == {
        "name": "a", "loop": "closed", "asked_rate": None, "until": "own", "objectives": [],
        "stages": [{"id": 0, "name": "no_op"}],
    }  # fmt: skip
    [run] = found["runs"]
    assert run["overlap"] == {
        "begin_t": 0.0, "end_t": 0.1, "seconds": 0.1,
        "share": {"a": pytest.approx(0.1 / (sum(COSTS) / 1e3), rel=1e-6), "b": 1.0},
    }  # fmt: skip
    assert run["warnings"]
    inside = int((np.cumsum(COSTS) < 100).sum())
    first = run["pipelines"][0]
    assert first["window"]["completed"] == inside
    assert first["window"]["throughput"] == pytest.approx(inside / 0.1)
    assert first["stages"][0]["window"]["calls"] == inside + 1, "one was under way at the end"
    assert sum(first["stages"][0]["histogram"]["counts"]) == inside + 1
    assert first["stages"][0]["count"] == 300, "of the whole run"


def test_what_was_not_measured_is_null(tmp_path: Path) -> None:
    nothing = pipeline("a", [], {0: []})
    [run] = written(tmp_path, ColocatedRun("a+b", group(nothing, pipeline("b", []))))["runs"]
    assert run["pipelines"][0]["window"] == {
        "seconds": 0.0, "throughput": None, "completed": 0, "mean_us": None, "p50_us": None, "p99_us": None,
        "histogram": None,
    }  # fmt: skip
    assert run["pipelines"][0]["latency"]["p99_us"] is None
    assert run["pipelines"][0]["lanes"] == []


def test_cells_and_both_sides_of_them(tmp_path: Path) -> None:
    alone = group(pipeline("a", one_after_the_other(COSTS), {0: chain(COSTS)}))
    slow = [2 * cost for cost in COSTS]
    beside = group(
        pipeline("a", one_after_the_other(slow), {0: chain(slow)}), pipeline("b", one_after_the_other([1.0] * 700))
    )
    runs = [ColocatedRun("solo-a", alone), ColocatedRun("a+b", beside)]
    found = written(tmp_path, *runs, contrasts=[Contrast.of("a", ["b"], [alone], [beside])])
    assert [(cell["stage"], cell["what"]) for cell in found["cells"]] == [
        (None, "throughput"), (None, "p50"), (None, "p99"), (0, "mean"), (0, "p50"), (0, "p99"),
    ]  # fmt: skip
    throughput = found["cells"][0]
    assert throughput["estimate"] == pytest.approx(2.0)
    assert throughput["alone"] / throughput["together"] == pytest.approx(2.0)
    assert (throughput["unit"], throughput["slower"], throughput["rounds"]) == ("1/s", True, 1)
    [both] = found["contrasts"]
    assert both["paired"] is True
    sides = [both[side]["stages"][0] for side in ("alone", "together")]
    assert [side["count"] for side in sides] == [300, 300]
    assert sides[0]["histogram"]["edges_us"] == sides[1]["histogram"]["edges_us"]
    assert [side["share"] for side in sides] == [1.0, 1.0]
    assert sides[1]["mean_us"] == pytest.approx(2 * sides[0]["mean_us"])


def test_lanes_keep_every_call_and_say_how_long_they_were_busy() -> None:
    rng = np.random.default_rng(2)
    begins = np.cumsum(rng.exponential(2.0, 5000))
    calls = [(n, float(begin), float(begin + 0.5)) for n, begin in enumerate(begins)]
    made = pipeline("a", [(begin, end) for _, begin, end in calls], {3: calls})
    found = lanes(made, 0)
    assert 50 < len(found) <= MOST_LANES
    assert sum(count for *_, count, _ in found) == 5000
    covered, reached = 0.0, 0.0
    for _, begin, end in calls:
        covered += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    assert sum(busy for *_, busy in found) == pytest.approx(covered / 1e3, rel=1e-3)
    assert all(busy <= end - begin + 2e-6 for _, begin, end, _, busy in found)
    assert all(before[2] <= after[1] for before, after in pairwise(found))


def test_a_series_adds_up_to_the_run() -> None:
    made = pipeline("a", one_after_the_other(COSTS), started=50)
    found = series(made, 0)
    assert len(found["t"]) == 60 <= MOST_POINTS
    step = found["t"][1] - found["t"][0]
    assert sum(found["throughput"]) * step == pytest.approx(300, rel=1e-3)
    assert found["t"][-1] == pytest.approx((50 + sum(COSTS)) / 1e3, abs=1e-6)
    assert set(found["in_flight"]) <= {0, 1}
    assert series(pipeline("a", []), 0)["t"] == []


def test_bins_hold_every_value_of_both_samples() -> None:
    small, large = np.array([0, 5, 10], np.int64), np.array([10**10, 7], np.int64)
    at = edges(small, large)
    assert len(at) <= MOST_BINS + 1
    for values in (small, large):
        found = histogram(values, at)
        assert found is not None
        assert sum(found["counts"]) == len(values)
    assert histogram(np.empty(0, np.int64), at) is None
