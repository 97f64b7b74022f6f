"""One pipeline alone and beside others: what is compared with what."""

from __future__ import annotations

import numpy as np
import pytest
from made_runs import group, one_after_the_other, pipeline

from assay.loadgen.colocation.overlap import Overlap
from assay.loadgen.colocation.slowdown import Contrast, What
from assay.loadgen.driver.ending import How

RNG = np.random.default_rng(3)
JITTER = RNG.uniform(0.98, 1.02, 400)


def ratio(contrast: Contrast, what: What, stage: int | None = None) -> float:
    interval = contrast.slowdown(what, stage).interval
    assert interval is not None, contrast.slowdown(what, stage).reason
    return interval.estimate


def test_a_neighbour_that_ends_early_is_not_thinned_by_the_time_after_it() -> None:
    """Half as fast for the first hundred of 400 queries; over the whole run that would be 1.25."""
    slowed = np.where(np.arange(400) < 100, 2.0, 1.0) * JITTER
    alone = group(pipeline("victim", one_after_the_other(list(JITTER))))
    victim = pipeline("victim", one_after_the_other(list(slowed)))
    burst = pipeline("burst", one_after_the_other([1.0] * round(slowed[:100].sum())))
    found = Contrast.of("victim", ["burst"], [alone], [group(victim, burst)])
    assert ratio(found, "throughput") == pytest.approx(2.0, rel=0.01)
    assert ratio(found, "p50") == pytest.approx(2.0, rel=0.03)
    assert found.seconds == pytest.approx(0.2, rel=0.02)


def test_the_same_work_is_compared_and_not_the_same_length_of_time() -> None:
    """The second half of the work costs three times the first; beside the burst only the first is done."""
    work = np.where(np.arange(400) < 200, 1.0, 3.0) * JITTER
    alone = group(pipeline("victim", one_after_the_other(list(work))))
    beside = pipeline("victim", one_after_the_other(list(2 * work)))
    found = Contrast.of("victim", ["b"], [alone], [group(beside, pipeline("b", one_after_the_other([4.0] * 100)))])
    assert ratio(found, "throughput") == pytest.approx(2.0, rel=0.01)


def scheduled(latencies: np.ndarray, shift: float = 0.0) -> list[tuple[float, float]]:
    """Queries every 5 ms; from the second half on ten come at once."""
    at = [5.0 * n if n < 200 else 1000.0 + 50.0 * ((n - 200) // 10) for n in range(400)]
    return [(time + shift, time + shift + wait) for time, wait in zip(at, latencies, strict=True)]


def test_an_open_loop_is_compared_over_the_same_part_of_its_schedule() -> None:
    """The calm half of the schedule beside a neighbour, against the whole of it alone, would be a speed-up of four."""
    waits = np.where(np.arange(400) < 200, 1.0, 4.0) * JITTER
    alone = group(pipeline("api", scheduled(waits), open_loop=True))
    beside = pipeline("api", scheduled(waits), open_loop=True)
    neighbour = pipeline("b", one_after_the_other([10.0] * 100))
    found = Contrast.of("api", ["b"], [alone], [group(beside, neighbour)])
    assert found.paired
    for what in ("throughput", "p50", "p99"):
        assert ratio(found, what) == pytest.approx(1.0, rel=0.002)
        assert found.slowdown(what).slower is None
    assert len(found.latencies[0]) == len(found.latencies[1]) == 200


def test_all_queries_at_once_are_compared_by_those_that_were_answered_in_time() -> None:
    """Each waits for all before it. Beside the neighbour twice as long, for the first hundred."""
    ends = np.cumsum(JITTER)
    slow = np.cumsum(np.where(np.arange(400) < 100, 2.0, 1.0) * JITTER)
    alone = group(pipeline("batch", [(0.0, float(end)) for end in ends], open_loop=True))
    beside = pipeline("batch", [(0.0, float(end)) for end in slow], open_loop=True)
    found = Contrast.of("batch", ["b"], [alone], [group(beside, pipeline("b", [(0.0, float(slow[99]) + 0.01)]))])
    assert [len(side) for side in found.latencies] == [100, 100]
    for what in ("throughput", "p50", "p99"):
        assert ratio(found, what) == pytest.approx(2.0, rel=0.01)


def test_another_schedule_is_not_called_the_same_queries() -> None:
    waits = np.ones(400)
    alone = group(pipeline("api", scheduled(waits), open_loop=True))
    beside = pipeline("api", scheduled(waits, shift=2.0), open_loop=True)
    found = Contrast.of("api", ["b"], [alone], [group(beside, pipeline("b", one_after_the_other([10.0] * 100)))])
    assert not found.paired
    assert ratio(found, "throughput") == pytest.approx(1.0, rel=0.02)


def test_an_open_loop_that_falls_behind_answers_less_in_the_same_time() -> None:
    alone = group(pipeline("api", [(5.0 * n, 5.0 * n + 1) for n in range(400)], open_loop=True))
    beside = pipeline("api", [(5.0 * n, 10.0 * n + 1) for n in range(400)], open_loop=True)
    found = Contrast.of("api", ["b"], [alone], [group(beside, pipeline("b", one_after_the_other([20.0] * 100)))])
    assert ratio(found, "throughput") == pytest.approx(2.0, rel=0.02)
    assert found.slowdown("throughput").slower is True


def test_stages_are_compared_call_by_call_inside_the_overlap() -> None:
    """Each query visits stage 1 twice. Alone they take 1 ms and 3 ms, beside three times as long."""

    def calls(factor: float, until: int) -> list[tuple[int, float, float]]:
        made, now = [], 0.0
        for query in range(200):
            slow = factor if query < until else 1.0
            for cost in (1.0, 3.0):
                made.append((query, now, now + cost * slow * JITTER[query]))
                now = made[-1][2]
        return made

    def queries(made: list[tuple[int, float, float]]) -> list[tuple[float, float]]:
        return [(made[2 * n][1], made[2 * n + 1][2]) for n in range(200)]

    alone, beside = calls(1.0, 0), calls(3.0, 100)
    until = beside[199][2]
    found = Contrast.of(
        "v", ["b"], [group(pipeline("v", queries(alone), {1: alone}))],
        [group(pipeline("v", queries(beside), {1: beside}), pipeline("b", [(0.0, until)]))],
    )  # fmt: skip
    assert [len(side) for side in found.stages[1]] == [200, 200]
    assert ratio(found, "mean", 1) == pytest.approx(3.0, rel=1e-6)
    assert ratio(found, "p50", 1) == pytest.approx(3.0, rel=0.01)
    alone_times, beside_times = found.stages[1]
    assert np.allclose(beside_times, 3 * alone_times, atol=3)


def test_rounds_are_compared_each_with_its_own_run_alone() -> None:
    """The machine is half as fast in the second round, alone and beside alike."""
    alone, together = [], []
    for speed in (1.0, 2.0):
        costs = speed * JITTER[:100]
        alone.append(group(pipeline("v", one_after_the_other(list(costs)))))
        beside = pipeline("v", one_after_the_other(list(1.5 * costs)))
        together.append(group(beside, pipeline("b", one_after_the_other([speed] * 140))))
    found = Contrast.of("v", ["b"], alone, together)
    interval = found.slowdown("throughput").interval
    assert interval is not None
    assert interval.estimate == pytest.approx(1.5, rel=0.01)
    assert interval.half_width < 0.1


@pytest.mark.parametrize(
    ("count", "until", "words"),
    [
        (3, None, "3 queries can be compared, 5 are needed"),
        (400, 0.0, "they did not run at the same time"),
        (400, 0.5, "0 queries can be compared, 5 are needed"),
    ],
)
def test_too_little_has_a_reason_and_no_number(count: int, until: float | None, words: str) -> None:
    costs = one_after_the_other([1.0] * count)
    both = group(pipeline("v", costs), pipeline("b", one_after_the_other([1.0] * 400)), until=until)
    found = Contrast.of("v", ["b"], [group(pipeline("v", costs))], [both])
    slowdown = found.slowdown("throughput")
    assert (slowdown.reason, slowdown.interval, slowdown.slower) == (words, None, None)


def test_a_percentile_needs_enough_queries() -> None:
    costs = one_after_the_other([1.0] * 60)
    found = Contrast.of("v", ["b"], [group(pipeline("v", costs))], [group(pipeline("v", costs), pipeline("b", costs))])
    assert found.slowdown("p50").interval is not None
    assert found.slowdown("p99").reason == "60 queries can be compared, 100 are needed"


def test_runs_that_did_not_end_well_are_not_compared() -> None:
    costs = one_after_the_other([1.0] * 60)
    broken = pipeline("b", costs, how=How.FAILED)
    found = Contrast.of("v", ["b"], [group(pipeline("v", costs))], [group(pipeline("v", costs), broken)])
    assert found.slowdown("throughput").reason == "a run of it, or of what ran beside it, did not end well"


def test_a_pipeline_that_started_later_overlaps_from_then_on() -> None:
    first, late = (
        pipeline("a", one_after_the_other([1.0] * 100)),
        pipeline("b", one_after_the_other([1.0] * 100), started=60),
    )
    overlap = Overlap(group(first, late))
    assert (overlap.begin, overlap.end) == pytest.approx((0.06, 0.1))
    assert [overlap.share(one) for one in (first, late)] == pytest.approx([0.4, 0.4])
    assert overlap.span(late) == pytest.approx((0.06, 0.16))
    assert overlap.warnings == [
        "the overlap is short: all ran together for 0.04 s, 40% of the 0.1 s that a ran",
        "the overlap is short: all ran together for 0.04 s, 40% of the 0.1 s that b ran",
    ]


def test_a_short_overlap_is_said_and_a_long_one_is_not() -> None:
    long, short = pipeline("a", one_after_the_other([1.0] * 100)), pipeline("b", [(0.0, 10.0)])
    assert Overlap(group(long, pipeline("b", one_after_the_other([1.0] * 90)))).warnings == []
    assert Overlap(group(long)).warnings == [], "alone"
    assert Overlap(group(long, short)).warnings == [
        "the overlap is short: all ran together for 0.01 s, 10% of the 0.1 s that a ran",
        "few answers in the overlap: 9 of a",
        "few answers in the overlap: 0 of b",
    ]
    apart = group(long, pipeline("b", [(0.0, 10.0)], started=200), until=100)
    assert Overlap(apart).warnings == [
        "the pipelines did not run at the same time: nothing is known of what they do to each other"
    ]
    assert Overlap(apart).seconds == 0
