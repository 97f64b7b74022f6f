"""Each figure from exchanges that were written down by hand: exact to the nanosecond."""

from __future__ import annotations

import numpy as np
import pytest
from made_exchanges import DONE, ROLE, Made, delta, event, made_point, usage

from assay.loadgen.http.http_client import Fault
from assay.loadgen.serving.load_point import point_metrics
from assay.loadgen.serving.load_settings import LoadAsked
from assay.loadgen.serving.objectives import TIMES, ServingObjective
from assay.loadgen.serving.request_metrics import quantiles

MS = 1_000_000
ANSWER = Made(
    intended=0,
    sent=4,
    pieces=[
        (10, ROLE),
        (30, delta("one")),
        (50, delta(" two") + delta(" three")),
        (90, delta(" four five")),
        (95, delta(finish="stop") + usage(5)),
        (96, DONE),
    ],
)


def test_times_are_counted_from_the_intended_time_and_a_role_is_no_token() -> None:
    times = made_point([ANSWER]).times
    assert times.values("ttft_s").tolist() == [30 * MS]
    assert times.values("ttft_s_from_send").tolist() == [26 * MS]
    assert times.values("latency_s").tolist() == [96 * MS]
    assert times.values("latency_s_from_send").tolist() == [92 * MS]


def test_tokens_of_one_chunk_and_chunks_of_one_piece_came_together() -> None:
    times = made_point([ANSWER]).times
    assert sorted(times.values("chunk_gap_s").tolist()) == [0, 20 * MS, 40 * MS]
    # Five tokens in four chunks: the last chunk held two of them.
    assert sorted(times.values("token_gap_s").tolist()) == [0, 0, 20 * MS, 40 * MS]
    assert times.values("tpot_s").tolist() == [60 * MS // 4]


def test_an_event_counts_when_its_last_byte_is_there() -> None:
    said = delta("one")
    cut = [(10, said[:20]), (25, said[20:-1]), (40, said[-1:]), (50, delta(finish="stop") + DONE)]
    times = made_point([Made(0, 0, cut)]).times
    assert times.values("ttft_s").tolist() == [40 * MS]


def test_the_first_output_token_comes_after_the_reasoning() -> None:
    pieces = [(10, delta(reasoning_content="hm")), (20, delta("so")), (21, delta(finish="stop") + DONE)]
    times = made_point([Made(0, 0, pieces)]).times
    assert times.values("ttft_s").tolist() == [10 * MS]
    assert times.values("first_output_token_s").tolist() == [20 * MS]


def test_without_usage_a_chunk_is_a_token() -> None:
    pieces = [(10, delta("a")), (20, delta("b")), (30, delta("c", finish="stop") + DONE)]
    point = made_point([Made(0, 0, pieces)])
    assert point.tokens.source == "chunks"
    assert point.times.values("tpot_s").tolist() == [10 * MS]


ERRORS = {
    "refused": Made(0, 1, [], 2, 0, Fault.REFUSED),
    "status_4xx": Made(0, 1, [(2, b'{"error": {"message": "no"}}')], 2, 404, Fault.STATUS_4XX, streamed=False),
    "cut": Made(0, 1, [(2, delta("one"))]),
    "malformed_chunk": Made(0, 1, [(2, delta("one")), (3, b"data: {half\n\n" + DONE)]),
    "error_event": Made(0, 1, [(2, delta("one")), (3, event({"error": {"message": "out of memory"}}) + DONE)]),
    "not_an_answer": Made(0, 1, [(2, b"<html>Hello</html>")], streamed=False),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_never_a_fast_answer(kind: str) -> None:
    point = made_point([ANSWER, ERRORS[kind]])
    assert point.errors == {kind: 1}
    assert point.answered == 1
    for quantity in ("ttft_s", "latency_s", "latency_s_from_send", "tpot_s"):
        assert len(point.times.values(quantity)) == 1, quantity
    assert len(point.times.values("chunk_gap_s")) == 3
    figures = {metric.name: metric.value for metric in point_metrics(point)}
    assert figures["errors"] == 1
    assert figures[f"errors_{kind}"] == 1
    assert figures["requests_per_s"] == pytest.approx(1 / 0.096)


def test_messages_are_the_servers_words() -> None:
    messages = {kind: made_point([made]).replies.messages[0] for kind, made in ERRORS.items()}
    assert messages["status_4xx"] == "404: no"
    assert messages["error_event"] == "out of memory"
    assert messages["not_an_answer"] == "the answer is not JSON: <html>Hello</html>"
    assert messages["cut"] == "the stream ended without a finish_reason or [DONE]"


def test_every_name_of_the_issue_is_a_metric_with_unit_and_direction() -> None:
    metrics = {metric.name: metric for metric in point_metrics(made_point([ANSWER.later(7 * n) for n in range(30)]))}
    for quantity in (*TIMES, *(f"{name}_from_send" for name in TIMES)):
        for share in ("p50", "p90", "p95", "p99", "mean"):
            metric = metrics[f"{quantity}_{share}"]
            assert (metric.unit, metric.better) == ("s", "lower")
    for rate in ("requests_per_s", "output_tokens_per_s", "goodput_requests_per_s", "goodput_tokens_per_s"):
        assert (metrics[rate].unit, metrics[rate].better) == ("1/s", "higher")
    assert metrics["delivered_share"].better == "higher"
    assert metrics["errors"].better == "lower"


def test_times_between_two_arrivals_are_the_same_from_the_send() -> None:
    late = Made(0, 20, [(30, delta("a")), (34, delta("b")), (39, delta("c", finish="stop") + usage(3) + DONE)])
    point = made_point([late.later(9 * n) for n in range(5)])
    figures = {metric.name: metric.value for metric in point_metrics(point)}
    for quantity in ("tpot_s", "token_gap_s", "chunk_gap_s"):
        for share in ("p50", "p99", "mean"):
            assert figures[f"{quantity}_from_send_{share}"] == figures[f"{quantity}_{share}"]
    assert figures["ttft_s_from_send_p50"] == pytest.approx(0.010)
    assert figures["ttft_s_p50"] == pytest.approx(0.030)
    asked = LoadAsked("poisson", 1.0, objectives=(ServingObjective.parse("chunk_gap_s_from_send:p50=0.0045"),))
    assert made_point([late], asked).met.tolist() == [True]


def test_goodput_counts_what_met_every_objective_in_requests_and_in_tokens() -> None:
    slow = Made(0, 0, [(200, delta("one")), (900, delta("two", finish="stop") + usage(2) + DONE)])
    asked = LoadAsked("poisson", 1.0, objectives=(ServingObjective.parse("ttft:p50=0.05"),))
    point = made_point([ANSWER, ANSWER, slow, ERRORS["refused"]], asked)
    figures = {metric.name: metric.value for metric in point_metrics(point)}
    assert figures["goodput_requests_per_s"] == pytest.approx(2 / 0.9)
    assert figures["goodput_tokens_per_s"] == pytest.approx(10 / 0.9)
    assert figures["output_tokens_per_s"] == pytest.approx(12 / 0.9)
    assert [(each.over, each.total, each.met) for each in point.objectives] == [(2, 4, True)]


def test_an_objective_on_gaps_holds_for_the_gaps_of_each_answer() -> None:
    even = Made(0, 0, [(10 * n, delta("x")) for n in range(1, 11)] + [(101, delta(finish="stop") + DONE)])
    stalled = Made(0, 0, [(10, delta("x")), (90, delta("y")), (91, delta(finish="stop") + DONE)])
    asked = LoadAsked("poisson", 1.0, objectives=(ServingObjective.parse("chunk_gap_s:p90=0.02"),))
    assert made_point([even, stalled], asked).met.tolist() == [True, False]


def test_an_answer_that_is_not_streamed_has_a_latency_and_no_first_token() -> None:
    body = b'{"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}], "usage": '
    body += b'{"prompt_tokens": 3, "completion_tokens": 7}}'
    point = made_point([Made(0, 2, [(30, body)], streamed=False)])
    assert point.times.values("latency_s").tolist() == [30 * MS]
    assert len(point.times.values("ttft_s")) == 0
    assert point.tokens.output.tolist() == [7]
    assert "ttft_s_p50" not in {metric.name for metric in point_metrics(point)}


def test_a_quantile_is_a_value_that_was_measured() -> None:
    values = np.arange(1, 101)
    assert quantiles(values, [0.5, 0.9, 0.95, 0.99]) == [50, 90, 95, 99]
    assert quantiles(np.array([7]), [0.5, 0.99]) == [7, 7]
