from __future__ import annotations

import pytest
from made_exchanges import DONE, Made, delta, made_point

from assay.loadgen.http.http_client import Fault
from assay.loadgen.serving.load_settings import LoadAsked

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


CLOSED = LoadAsked("concurrent", concurrency=4, loop="closed")


def _closed_loop(rounds: int, took: float, late: float) -> list[Made]:
    """Four places; each is free when its answer has come, and the next request goes out `late` ms after that."""
    step = took + late
    rows = [_answer(0, 0.1 * place, took) for place in range(4)]
    return rows + [_answer(0.1 * place + took + step * n, 0.1 * place + step * (n + 1), took)
                   for n in range(rounds) for place in range(4)]  # fmt: skip


def test_a_closed_loop_whose_places_are_taken_all_the_time_is_delivered_whole() -> None:
    load = made_point(_closed_loop(20, 100, 0), CLOSED).delivered
    assert load.share == pytest.approx(1.0)
    assert load.in_flight == pytest.approx(4.0)
    few = made_point(_closed_loop(0, 0.05, 0), CLOSED)
    assert few.delivered.share == 1.0
    assert few.delivered.in_flight == 4.0
    assert few.verdict.of_server


def test_a_client_that_leaves_places_of_a_closed_loop_empty_is_the_bottleneck() -> None:
    point = made_point(_closed_loop(20, 0.08, 0.02), CLOSED)
    assert point.delivered.share == pytest.approx(0.8)
    assert point.verdict.client_bottleneck == (
        "the client was the bottleneck: places in flight stood empty 20.0% of the time, "
        "20 µs (mean) from an answer to the next request"
    )
    assert not point.verdict.undelivered


def test_a_server_that_closes_its_connections_is_why_a_closed_loop_waits() -> None:
    point = made_point(_closed_loop(20, 8, 2), CLOSED, connections=84)
    assert point.delivered.share == pytest.approx(0.8)
    assert not point.verdict.client_bottleneck
    assert point.verdict.undelivered == (
        "the load asked for was not delivered: 80.0% of it; 80 connections had to be made anew, the server did not "
        "keep them alive"
    )


def test_groups_that_wait_for_their_last_one_are_no_missing_load() -> None:
    asked = LoadAsked("multi_stream", concurrency=2, loop="closed")
    groups = [_answer(100 * n, 100 * n, took) for n in range(20) for took in (20, 100)]
    assert made_point(groups, asked).delivered.share == pytest.approx(1.0)


def test_a_client_without_a_core_left_is_the_bottleneck() -> None:
    requests = [_answer(10 * n, 10 * n, 5) for n in range(100)]
    assert "it used 96% of a core" in made_point(requests, OPEN, cpu_s=0.955).verdict.client_bottleneck
    assert not made_point(requests, OPEN, cpu_s=0.3).verdict.client_bottleneck


def test_a_load_of_no_request_at_all_can_be_written_and_shown() -> None:
    from assay.loadgen.serving.load_text import point_text
    from assay.loadgen.serving.result_files import point_json

    point = made_point([], OPEN)
    assert point.failed == "no request was sent"
    assert point_json(point)["metrics"]["answered"] == 0
    assert "no request was sent" in point_text(point)
