"""A whole load on each endpoint, streamed and not: tokens, times and text are those that the server sent."""

from __future__ import annotations

from typing import Any

import pytest

from assay.loadgen.http.server import ScriptedServer, null_replies
from assay.loadgen.serving.load_point import point_metrics
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.run_load import run_load

WORDS = "word0 word1 word2 word3 word4 "
GAP_S = 0.003


def _load(endpoint: Any, streamed: bool) -> tuple[Any, dict[str, Any]]:
    with ScriptedServer(null_replies(5, GAP_S)) as server:
        point = run_load(LoadSettings(server.url, "m", endpoint, streamed, concurrency=3, requests=12))
    return point, {metric.name: metric.value for metric in point_metrics(point)}


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses"])
def test_streamed_answers_have_their_tokens_and_the_times_between_them(endpoint: str) -> None:
    point, figures = _load(endpoint, True)
    assert (figures["answered"], figures["errors"], figures["counted_by"]) == (12, 0, "usage")
    assert (figures["output_tokens"], figures["input_tokens"]) == (60, 192)
    assert [point.replies.text(place) for place in range(12)] == [WORDS] * 12
    assert point.replies.chunks.tolist() == [5] * 12
    # The server sends a word every 3 ms: nothing can arrive sooner than it was sent.
    assert figures["ttft_s_p50"] >= GAP_S
    assert figures["latency_s_p50"] >= 5 * GAP_S
    assert len(point.times.values("chunk_gap_s")) == 48


@pytest.mark.parametrize("endpoint", ["chat", "completions", "responses"])
def test_answers_that_come_whole_have_their_tokens_and_no_first_one(endpoint: str) -> None:
    point, figures = _load(endpoint, False)
    assert (figures["answered"], figures["errors"], figures["output_tokens"]) == (12, 0, 60)
    assert [point.replies.text(place) for place in range(12)] == [WORDS] * 12
    assert "ttft_s_p50" not in figures
    assert figures["latency_s_p50"] > 0


def test_embeddings_have_a_latency_and_input_tokens() -> None:
    _, figures = _load("embeddings", True)
    assert (figures["answered"], figures["errors"], figures["input_tokens"]) == (12, 0, 192)
