"""When latency_first pauses and resumes, by made-up states; and what a state is made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.loadgen import Control, Objective, PipelineState
from assay.loadgen.colocation.colocation_config import PipelineConfig
from assay.loadgen.colocation.policy import LatencyFirst, ObjectiveState
from assay.loadgen.colocation.policy_run import Recent, state_before
from assay.loadgen.shared_counters import OK, PIPELINE
from assay.loadgen.trace_file import DTYPE, Rows

BATCH = state_before(
    PipelineConfig.model_validate(
        {"name": "batch", "loadgen": {"component": "single_stream"}, "stages": [{"id": 0, "component": "no_op"}]}
    )
)


class Scene:
    """One policy, one service with an objective of 100 ms, one batch pipeline that does as it is told."""

    def __init__(self, policy: LatencyFirst, objective: Objective) -> None:
        self.policy, self.objective = policy, objective
        self.service = replace(BATCH, name="service", condition="running", in_flight=1, objectives=(self._kept([]),))
        self.batch = replace(BATCH, condition="running")
        policy.begin([self.service, self.batch], Control(["service", "batch"]))

    def _kept(self, answers: list[tuple[float, float]]) -> ObjectiveState:
        times = tuple(t for t, _ in answers)
        return ObjectiveState(self.objective, float("nan"), tuple(took for _, took in answers), times, 0, len(answers))

    def look(self, now: float, answers: list[tuple[float, float]], **changed: object) -> str:
        """What becomes of the batch pipeline."""
        self.service = replace(self.service, objectives=(self._kept(answers),), **{"silent_s": 0.0, **changed})
        control = Control(["service", "batch"])
        self.policy.look(now, [self.service, self.batch], control)
        for request in control.requests:
            assert request.pipeline == "batch"
            self.reason = request.reason
            self.batch = replace(self.batch, condition="paused" if request.action == "pause" else "running")
        return self.batch.condition


def scene(percentile: float = 0.99, of: str = "latency", **keys: object) -> Scene:
    return Scene(LatencyFirst(**{"hold_s": 0.0, **keys}), Objective(percentile, 0.1, of))


def test_it_pauses_before_the_objective_is_missed_and_resumes_well_below() -> None:
    it = scene(pause_at=0.5, resume_at=0.25)
    assert it.look(1.0, [(0.9, 0.049)]) == "running"
    assert it.look(1.1, [(0.9, 0.049), (1.1, 0.051)]) == "paused"
    assert it.reason == "service: p99 of latency within 100 ms, 51 ms now"
    # Old answers no longer count; those between the two shares change nothing.
    assert it.look(1.2, [(1.1, 0.051), (1.2, 0.03)]) == "paused"
    assert it.look(1.3, [(1.1, 0.09), (1.2, 0.03), (1.3, 0.024)]) == "paused"
    later = [(1.4, 0.02)] * 8
    assert it.look(1.4, [(1.2, 0.03), *later]) == "running"
    assert it.look(1.5, [*later, (1.5, 0.03)]) == "running"


def test_it_looks_at_the_objectives_percentile_of_the_newest_answers() -> None:
    half = scene(percentile=0.5, answers=4)
    slow, fast = 0.2, 0.001
    assert half.look(1, [(1, slow), (1, slow), (1, fast), (1, fast), (1, fast), (1, slow)]) == "running"
    assert half.look(2, [(1, fast), (2, slow), (2, slow), (2, slow)]) == "paused"


def test_an_answer_that_does_not_come_counts() -> None:
    it = scene()
    assert it.look(1, [], silent_s=0.04) == "running"
    assert it.look(2, [], silent_s=0.06) == "paused"
    # Of a time to the first result, a query that goes on says nothing.
    assert scene(of="first_result").look(1, [], silent_s=0.06) == "running"


def test_without_an_answer_since_the_pause_it_waits_unless_there_is_nothing_to_wait_for() -> None:
    it = scene()
    assert it.look(1, [(1, 0.2)]) == "paused"
    assert it.look(2, [(1, 0.2)]) == "paused"
    assert it.look(3, [(1, 0.2)], in_flight=0) == "running"
    assert it.reason == "service has nothing to do"


def test_it_does_not_flutter() -> None:
    it = scene(hold_s=0.5)
    assert it.look(1.0, [(1.0, 0.2)]) == "paused"
    assert it.look(1.4, [(1.4, 0.001)]) == "paused"
    assert it.look(1.5, [(1.4, 0.001)]) == "running"
    assert it.look(1.9, [(1.9, 0.2)]) == "running"
    assert it.look(2.0, [(1.9, 0.2)]) == "paused"


def test_when_all_that_is_protected_has_ended_the_others_go_on() -> None:
    it = scene(hold_s=60)
    assert it.look(1.0, [(1.0, 0.2)]) == "paused"
    assert it.look(1.1, [(1.0, 0.2)], condition="ended") == "running"
    assert it.reason == "nothing is left to protect"


def test_one_that_starts_during_a_pause_waits_too() -> None:
    it = scene()
    it.batch = replace(it.batch, condition="waiting")
    assert it.look(1.0, [(1.0, 0.2)]) == "waiting"
    it.batch = replace(it.batch, condition="running")
    assert it.look(1.1, [(1.0, 0.2)]) == "paused"


def test_those_named_give_way_though_they_have_objectives() -> None:
    it = Scene(LatencyFirst(pause=["service"], hold_s=0), Objective(0.99, 0.1))
    other = replace(it.service, name="batch", objectives=(replace(it._kept([(1, 0.2)])),))
    control = Control(["service", "batch"])
    it.policy.look(1, [it.service, other], control)
    assert [(request.pipeline, request.action) for request in control.requests] == [("service", "pause")]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"pause_at": 0.2, "resume_at": 0.2}, "resume_at must be above 0 and below pause_at (0.2), not 0.2"),
        ({"answers": 33}, "answers must be 1 to 32, not 33"),
        ({"hold_s": -1}, "hold_s must not be negative, as -1 is"),
        ({"every_s": 0}, "every_s must be greater than 0, not 0"),
    ],
)
def test_keys_that_make_no_sense_are_named(keys: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        LatencyFirst(**keys)


def answered(*queries: tuple[int, float, float], stage: int = PIPELINE, first: float = 0, items: int = 0) -> Rows:
    rows = np.zeros(len(queries), DTYPE)
    for row, (query, intended, end) in zip(rows, queries, strict=True):
        row["query"], row["stage"], row["status"], row["items"] = query, stage, OK, items
        row["intended"] = row["start"] = int(intended * 1e9)
        row["end"], row["first"] = int(end * 1e9), int(first * 1e9)
    return rows


def test_recent_figures_are_of_the_window_and_counts_of_the_whole_run() -> None:
    recent = Recent([Objective(0.5, 0.05)], window_s=1.0)
    recent.see(answered((0, 0, 0.1), (1, 0.1, 0.11), (-1, 0, 0.5)))
    recent.see(answered((2, 2.0, 2.02), (3, 2.1, 2.14)))
    throughput, p50, p99 = recent.figures(now=int(2.5e9), started_at=0)
    assert throughput == pytest.approx(2)
    assert (p50, p99) == pytest.approx((0.03, 0.0398))
    [kept] = recent.objectives(now=int(2.5e9), released_at=int(1e9))
    assert (kept.missed, kept.judged) == (1, 4)
    assert kept.recent_s == pytest.approx(0.03)
    assert kept.newest_s == pytest.approx((0.1, 0.01, 0.02, 0.04))
    assert kept.newest_t == pytest.approx((-0.9, -0.89, 1.02, 1.14))
    assert np.isnan(recent.objectives(now=int(9e9), released_at=0)[0].recent_s)


def test_a_streamed_result_is_known_though_its_rows_come_apart() -> None:
    recent = Recent([Objective(0.5, 0.05, "first_result")], window_s=1.0)
    recent.see(answered((0, 1.0, 1.3), stage=4, first=1.1, items=3))
    recent.see(answered((0, 1.0, 1.3), (1, 1.1, 1.3)))
    [kept] = recent.objectives(now=int(1.4e9), released_at=0)
    # The second did not stream, so the objective is not about it.
    assert kept.newest_s == pytest.approx((0.1,))
    assert (kept.missed, kept.judged) == (1, 1)


def test_only_what_a_policy_may_look_at_again_is_kept() -> None:
    recent = Recent([], window_s=0.1)
    for n in range(100):
        recent.see(answered((n, n, n + 0.5)))
    assert len(recent._ends) == 32


def test_a_state_says_what_the_file_does_before_anything_runs() -> None:
    assert isinstance(BATCH, PipelineState)
    assert (BATCH.condition, BATCH.until, BATCH.device) == ("waiting", "own", None)
    assert (BATCH.cpus, BATCH.asked_rate, BATCH.objectives) == ((), None, ())
