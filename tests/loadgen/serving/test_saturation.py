from __future__ import annotations

import numpy as np

from assay.loadgen.serving.saturation import Saturation, find_saturation


def _queue(rate: float, capacity: float, seconds: float, base: float = 0.0, seed: int = 0) -> Saturation | None:
    """A server that gets through `capacity` requests a second, and has each for `base` seconds more."""
    rng = np.random.default_rng(seed)
    came = np.cumsum(rng.exponential(1 / rate, int(rate * seconds)))
    free, ended = 0.0, []
    for at in came:
        free = max(free, at) + 1 / capacity
        ended.append(free + base)
    done = np.asarray(ended)
    # As it is looked at while it runs: the first time that it is seen counts.
    for now in np.arange(0.5, seconds, 0.5):
        seen = done <= now
        due = (came[came <= now] * 1e9).astype(np.int64)
        found = find_saturation(
            due, (done[seen] * 1e9).astype(np.int64), ((done - came)[seen] * 1e9).astype(np.int64), int(now * 1e9)
        )
        if found is not None:
            return found
    return None


def test_more_than_a_server_can_do_is_seen_within_seconds() -> None:
    found = _queue(rate=100, capacity=50, seconds=30)
    assert found is not None
    assert found.at_s < 8
    assert 40 < found.answer_rate < 60
    assert 80 < found.arrival_rate < 120
    assert "the server is saturated" in found.words


def test_a_server_that_keeps_up_is_never_called_saturated() -> None:
    assert [seed for seed in range(10) if _queue(100, 125, 30, seed=seed)] == []


def test_long_answers_fill_the_server_without_saturating_it() -> None:
    """Ten seconds an answer: requests in flight grow to a thousand, and then no further."""
    assert _queue(rate=100, capacity=1000, seconds=60, base=10.0) is None


def test_a_saturated_load_has_no_times() -> None:
    from dataclasses import replace

    from made_exchanges import DONE, Made, delta, made_point

    from assay.loadgen.serving.load_point import point_metrics

    data = delta("a", finish="stop") + DONE
    point = made_point([Made(n, n, [(3 * n + 1, data)]) for n in range(50)])
    assert "latency_s_p99" in {metric.name for metric in point_metrics(point)}
    point = replace(point, saturation=Saturation(1.0, 40, 100.0, 50.0))
    names = {metric.name: metric.value for metric in point_metrics(point)}
    assert not [name for name in names if name.startswith(("latency", "ttft", "tpot", "token_gap", "chunk_gap"))]
    assert names["saturated"] is True
    assert "requests_per_s" in names
    assert not point.verdict.of_server
