"""`until: others_end`: an antagonist goes on until those it is there for have ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import ConfigError
from assay.loadgen import (
    ConstantLoadScheduler,
    Graph,
    LoadGen,
    LoadScheduler,
    PoissonLoadScheduler,
    RampLoadScheduler,
    StepsLoadScheduler,
    Stop,
    TraceLoadScheduler,
)
from assay.loadgen.colocation.colocation import Colocation, GroupOutcome
from assay.loadgen.colocation.colocation_config import ColocationConfig
from assay.loadgen.colocation.pipeline_worker import as_run
from assay.loadgen.colocation.read_config import read_config
from assay.loadgen.driver import receiver
from assay.loadgen.schedulers.scheduler import draw, endless
from assay.stages.synthetic import NoOp


def pipeline(name: str, loadgen: dict[str, Any], component: str = "no_op", **more: Any) -> dict[str, Any]:
    return {"name": name, "loadgen": loadgen, "stages": [{"id": 0, "component": component}], **more}


MEASURED = pipeline("measured", {"component": "constant", "config": {"rate": 100}, "max_queries": 60})
CLOSED = {"component": "single_stream"}
OPEN = {"component": "constant", "config": {"rate": 300}}
RAMP = {"component": "ramp", "config": {"start_rate": 100, "end_rate": 300, "seconds": 0.1}}


def config(*pipelines: dict[str, Any]) -> ColocationConfig:
    return ColocationConfig.model_validate({"pipelines": pipelines})


def run(tmp_path: Path, *pipelines: dict[str, Any]) -> GroupOutcome:
    read = config(*pipelines)
    return Colocation(read, tmp_path).run(read.pipelines, "together")


@pytest.mark.parametrize(
    "load",
    [CLOSED, OPEN, RAMP, {**OPEN, "sender": "process"}, {**OPEN, "max_queries": 5, "duration": 0.01}],
    ids=["closed", "open", "a ramp that is over before", "a sender process", "bounds of its own"],
)
def test_it_sends_until_the_measured_one_has_ended(tmp_path: Path, load: dict[str, Any]) -> None:
    other = pipeline("antagonist", load, until="others_end")
    if load is CLOSED:
        other["stages"][0] |= {"component": "sleep", "config": {"seconds": 0.002}}
    outcome = run(tmp_path, MEASURED, other)
    assert outcome.success, [one.result.ending for one in outcome.pipelines]
    measured, antagonist = (outcome[name].result for name in ("measured", "antagonist"))
    assert measured.completed == 60
    last = int(measured.measured.queries["end"][-1])
    sends = antagonist.measured.queries["start"]
    # Each of these loads would have been over long before, had it had an end of its own.
    assert last - 300_000_000 < sends[-1]
    assert antagonist.completed == antagonist.sent > 60
    assert outcome.window[1] - outcome.window[0] > 0.5e9


def test_the_open_schedule_is_the_one_of_its_seed_from_the_first_query_on() -> None:
    scheduler = PoissonLoadScheduler(rate=1000)
    blocks = endless(scheduler, seed=3)
    on = np.concatenate([next(blocks) for _ in range(4)])
    assert np.array_equal(on[:20_000], draw(scheduler, 3, 20_000, None))


@pytest.mark.parametrize(
    ("scheduler", "first", "again"),
    [
        (RampLoadScheduler(10, 10, seconds=1), [0.0, 0.1, 0.2], [1.0, 1.1, 1.2]),
        (
            StepsLoadScheduler([{"rate": 2, "seconds": 1}, {"rate": 4, "seconds": 0.5}]),
            [0.0, 0.5, 1.0],
            [1.5, 2.0, 2.5],
        ),
    ],
)
def test_a_schedule_with_an_end_begins_again_there(
    scheduler: LoadScheduler, first: list[float], again: list[float]
) -> None:
    count = len(draw(scheduler, 0, None, None))
    drawn = np.empty(0, np.int64)
    for block in endless(scheduler, seed=0):
        drawn = np.concatenate([drawn, block])
        if len(drawn) >= 2 * count:
            break
    assert (drawn[:3] / 1e9).tolist() == pytest.approx(first)
    assert (drawn[count : count + 3] / 1e9).tolist() == pytest.approx(again)


@pytest.mark.parametrize(("times", "again"), [("5\n6\n8\n", 4.5), ("5\n", 1.0), ("5\n5\n", 1.0)])
def test_a_trace_begins_again_a_mean_gap_after_its_end(tmp_path: Path, times: str, again: float) -> None:
    (tmp_path / "trace").write_text(times)
    blocks = endless(TraceLoadScheduler(str(tmp_path / "trace")), seed=0)
    next(blocks)
    assert next(blocks)[0] / 1e9 == pytest.approx(again)


def test_a_long_schedule_is_handed_to_the_sender_process_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "_AHEAD", 100)
    load = LoadGen(
        Graph.chain([NoOp()]), ConstantLoadScheduler(rate=50_000), Stop(max_queries=20_000), sender="process"
    )
    result = load.run()
    assert result.ending.success
    assert result.completed == 20_000
    assert np.array_equal(np.diff(np.sort(result.measured.queries["intended"])), np.full(19_999, 20_000))


def test_alone_it_has_its_own_bound_or_as_long_as_the_longest_of_the_others() -> None:
    bounded = pipeline("a", {**CLOSED, "max_queries": 7}, until="others_end")
    unbounded = pipeline("b", CLOSED, until="others_end")
    timed = pipeline("c", {**CLOSED, "duration": 3})
    longer = pipeline("d", {**CLOSED, "duration": 4})
    file = config(bounded, unbounded, timed, longer)
    a, b = as_run([file.pipeline("a"), file.pipeline("b")], file)
    assert (a.until, a.loadgen.max_queries, a.loadgen.duration) == ("own", 7, None)
    assert (b.until, b.loadgen.max_queries, b.loadgen.duration) == ("own", None, 4)
    only_counted = config(pipeline("e", {**CLOSED, "max_queries": 9}), unbounded)
    assert as_run([only_counted.pipeline("b")], only_counted)[0].loadgen.duration == 10
    beside = as_run([file.pipeline("a"), file.pipeline("c")], file)
    assert (beside[0].until, beside[0].loadgen.max_queries) == ("others_end", None)
    assert beside[1] == file.pipeline("c")


def test_alone_it_ends(tmp_path: Path) -> None:
    file = config(MEASURED, pipeline("antagonist", {**OPEN, "duration": 0.2}, until="others_end"))
    outcome = Colocation(file, tmp_path).run([file.pipeline("antagonist")], "solo")
    assert outcome.success
    assert outcome["antagonist"].result.completed == 60


def test_one_that_fails_ends_the_run_as_any_does(tmp_path: Path) -> None:
    bad = pipeline("bad", CLOSED, component="stages.synthetic.Raise", until="others_end")
    bad["stages"][0]["config"] = {"at": 3}
    outcome = run(tmp_path, {**MEASURED, "loadgen": {**MEASURED["loadgen"], "max_queries": 100_000}}, bad)
    assert "asked to raise at call 3" in outcome["bad"].result.ending.reason
    assert outcome["measured"].result.ending.success
    assert not outcome.success


def test_its_time_limit_is_a_limit_not_its_length(tmp_path: Path) -> None:
    outcome = run(tmp_path, MEASURED, pipeline("antagonist", {**OPEN, "timeout": 0.2}, until="others_end"))
    assert outcome["antagonist"].result.ending.reason.startswith("the time limit of 0.2 s was reached")
    assert not outcome.success


@pytest.mark.parametrize(
    ("pipelines", "message"),
    [
        (
            [pipeline("a", CLOSED, until="others_end"), pipeline("b", OPEN, until="others_end")],
            "pipelines[0].until: every pipeline would go on until the others end, so none ever would: leave",
        ),
        (
            [MEASURED, pipeline("b", {"component": "offline"}, until="others_end")],
            "pipelines[1].loadgen: offline at no rate sends everything at once, which has no end with `until: ",
        ),
        ([MEASURED, pipeline("b", CLOSED, until="others")], "pipelines[1].until"),
    ],
)
def test_what_can_have_no_end_is_refused(tmp_path: Path, pipelines: list[dict[str, Any]], message: str) -> None:
    path = tmp_path / "config.yml"
    path.write_text(json.dumps({"pipelines": pipelines}))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert message in str(caught.value)


def test_it_needs_no_bound_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_text(json.dumps({"pipelines": [MEASURED, pipeline("b", OPEN, until="others_end")]}))
    assert read_config(path).pipeline("b").until == "others_end"
