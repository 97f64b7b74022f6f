from __future__ import annotations

import pytest
from made_exchanges import DONE, Made, delta, made_point

from assay.loadgen.http.fault import Fault
from assay.loadgen.serving.load_asked import LoadAsked

OPEN = LoadAsked("constant", rate=100.0)
DATA = delta("a", finish="stop") + DONE


def _answer(intended: float, sent: float, took: float) -> Made:
    return Made(intended, sent, [(sent + took, DATA)])


def test_a_load_that_was_sent_on_time_is_delivered_whatever_the_server_does() -> None:
    point = made_point([_answer(10 * n, 10 * n, 4000) for n in range(100)], OPEN)
    assert point.delivered.share == 1.0
    assert point.delivered.rate == pytest.approx(100 / 0.99)
    assert point.verdict.of_server


def test_a_client_that_falls_behind_is_the_bottleneck() -> None:
    point = made_point([_answer(10 * n, 20 * n, 1) for n in range(100)], OPEN)
    assert point.delivered.share == pytest.approx(990 / (990 + 945), rel=1e-3)
    assert point.verdict.client_bottleneck.startswith("the client was the bottleneck: it sent 51")
    assert not point.verdict.of_server


def test_a_cap_that_holds_requests_back_is_not_the_clients_fault() -> None:
    capped = LoadAsked("constant", rate=100.0, concurrency=1)
    point = made_point([_answer(10 * n, 20 * n, 20) for n in range(100)], capped)
    assert point.delivered.held_back == 99
    assert not point.verdict.client_bottleneck
    assert point.verdict.undelivered.startswith("the load asked for was not delivered: 51")
    assert "99 requests waited for one of the places in flight" in point.verdict.undelivered


def test_what_was_never_sent_was_not_delivered() -> None:
    lost = [Made(10 * n, 0, [], 1000, 0, Fault.NEVER_SENT) for n in range(50, 100)]
    point = made_point([*(_answer(10 * n, 10 * n, 1) for n in range(50)), *lost], OPEN)
    assert point.delivered.sent == 50
    assert point.delivered.share == pytest.approx(0.5)
    assert point.errors == {"never_sent": 50}


def test_a_closed_loop_is_judged_by_the_requests_in_flight() -> None:
    asked = LoadAsked("concurrent", concurrency=4, loop="closed")
    full = [_answer(100 * n, 100 * n, 100) for n in range(20) for _ in range(4)]
    assert made_point(full, asked).delivered.in_flight == pytest.approx(4.0)
    assert made_point(full, asked).delivered.share == pytest.approx(1.0)
    idle = [_answer(100 * n, 100 * n, 50) for n in range(20) for _ in range(4)]
    point = made_point(idle, asked)
    assert point.delivered.share == pytest.approx(0.5)
    assert point.verdict.undelivered == "the load asked for was not delivered: 50.0% of it"


def test_a_client_without_a_core_left_is_the_bottleneck() -> None:
    requests = [_answer(10 * n, 10 * n, 5) for n in range(100)]
    assert "it used 96% of a core" in made_point(requests, OPEN, cpu_s=0.955).verdict.client_bottleneck
    assert not made_point(requests, OPEN, cpu_s=0.3).verdict.client_bottleneck


def test_a_load_of_no_request_at_all_can_be_written_and_shown() -> None:
    from assay.loadgen.serving.kept.point_json import point_json
    from assay.loadgen.serving.point_text import point_text

    point = made_point([], OPEN)
    assert point.failed == "no request was sent"
    assert point_json(point)["metrics"]["answered"] == 0
    assert "no request was sent" in point_text(point)
