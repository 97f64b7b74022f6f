"""What is reported against what the server knows: it logs when it sent each piece, by a script with stalls, late first
tokens, several tokens in a chunk, and cut streams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.loadgen.http.server import (
    DONE,
    STREAM_END,
    STREAM_HEAD,
    ConnectionEnding,
    ScriptedReply,
    ScriptedServer,
    chat_event,
    usage_event,
)
from assay.loadgen.serving.load_point import LoadPoint, point_metrics
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.run_load import run_load

Floats = NDArray[np.float64]
REQUESTS, RATE = 160, 50.0
ATTEMPTS = 6
WITHIN_S = 100e-6
MOST_LATE = 0.01
"""Share of pieces that the server itself may send more than 100 µs after its script, in a run that is not disturbed."""
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


@dataclass
class Scripted:
    """One answer of the script. Piece 0 holds the role, piece k the k-th chunk, the last one the end."""

    reply: ScriptedReply
    chunks: int
    tokens: int
    cut: bool


def _script() -> list[Scripted]:
    rng = np.random.default_rng(5)
    script = []
    for number in range(REQUESTS):
        cut, chunks = number % 20 == 19, int(rng.integers(6, 12))
        pieces: list[tuple[float, bytes]] = [(0.0, STREAM_HEAD + chat_event({"role": "assistant", "content": ""}))]
        tokens = 0
        for chunk in range(chunks):
            together = 3 if rng.random() < 0.2 else 1
            delay = float(rng.uniform(0.004, 0.03)) if chunk == 0 else float(rng.uniform(0.001, 0.006))
            if number % 10 == 3 and chunk == 4:
                delay += 0.08
            pieces.append((delay, chat_event({"content": "word " * together})))
            tokens += together
        if not cut:
            pieces.append((0.002, chat_event({}, finish="stop") + usage_event(tokens) + DONE + STREAM_END))
        ending = ConnectionEnding.CLOSE if cut else ConnectionEnding.KEEP
        script.append(Scripted(ScriptedReply(pieces, ending), chunks, tokens, cut))
    return script


@dataclass
class Truth:
    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, *values: float) -> None:
        self.values.setdefault(name, []).extend(values)

    def quantile(self, name: str, share: float) -> float:
        ordered = sorted(self.values[name])
        return ordered[math.ceil(share * len(ordered)) - 1] / 1e9


def _truth(script: Sequence[Scripted], point: LoadPoint, log: np.ndarray[tuple[int], np.dtype[np.void]]) -> Truth:
    truth = Truth()
    rows = point.exchanges.rows
    for number, scripted in enumerate(script):
        if scripted.cut:
            continue
        mine = log[(log["request"] == number) & (log["piece"] >= 0)]
        at = mine["ns"][np.argsort(mine["piece"])].astype(float)
        first, last = at[1], at[scripted.chunks]
        for form, begin in (("", rows["intended_ns"][number]), ("_from_send", rows["sent_ns"][number])):
            truth.add(f"ttft_s{form}", first - begin)
            truth.add(f"first_output_token_s{form}", first - begin)
            truth.add(f"latency_s{form}", at[-1] - begin)
        gaps = np.diff(at[1 : scripted.chunks + 1]).tolist()
        truth.add("chunk_gap_s", *gaps)
        truth.add("token_gap_s", *gaps, *[0.0] * (scripted.tokens - scripted.chunks))
        truth.add("tpot_s", (last - first) / (scripted.tokens - 1))
    return truth


@dataclass
class Attempt:
    point: LoadPoint
    off: list[str]
    """Quantiles that are further from the truth than the larger of 1% and 100 µs."""
    late_share: float
    """Pieces that the server sent more than 100 µs after the time its script says, by its own log."""
    delays: Floats
    """Seconds from the server's send of each chunk to the arrival that the client took."""


def _measure() -> Attempt:
    script = _script()
    with ScriptedServer([each.reply for each in script], in_turn=True, log_room=8192) as server:
        point = run_load(
            LoadSettings(
                url=server.url, model="scripted", rate=RATE, requests=REQUESTS, scheduler="constant", warmup=0,
                prompt_tokens="8", max_tokens="64",
            )
        )  # fmt: skip
        log = server.log()
    truth = _truth(script, point, log)
    figures = {metric.name: metric.value for metric in point_metrics(point)}
    off = []
    for name in truth.values:
        for label, share in SHARES.items():
            true, told = truth.quantile(name, share), figures[f"{name}_{label}"]
            if abs(told - true) > max(0.01 * true, WITHIN_S):
                off.append(f"{name}_{label}: {told * 1e3:.3f} ms, truth {true * 1e3:.3f} ms")
    late, delays = [], []
    for number, scripted in enumerate(script):
        mine = np.sort(log[log["request"] == number], order="piece")["ns"]  # piece -1: the request came
        late += (np.diff(mine) / 1e9 - [delay for delay, _ in scripted.reply.pieces]).tolist()
        first, last = point.replies.chunk_starts[number : number + 2]
        delays += ((point.replies.chunk_at[first:last] - mine[2 : 2 + scripted.chunks]) / 1e9).tolist()
    return Attempt(point, off, float(np.mean(np.asarray(late) > WITHIN_S)), np.asarray(delays))


@pytest.mark.serial
def test_every_quantile_is_what_the_server_knows() -> None:
    """Tried again only where the server, which waits for its times as the client waits for answers, was itself held up
    by other programs for longer than what is asked for: by its own log, whatever the client said."""
    shares = []
    for _ in range(ATTEMPTS):
        attempt = _measure()
        assert attempt.point.errors == {"cut": 8}
        assert attempt.point.answered == REQUESTS - 8
        # These hold on the busiest machine: nothing arrives before it was sent, and what is not held up arrives soon.
        assert attempt.delays.min() >= 0
        assert np.quantile(attempt.delays, 0.1) < WITHIN_S
        if not attempt.off:
            return
        assert attempt.late_share > MOST_LATE, attempt.off
        shares.append(f"{attempt.late_share:.0%}")
    pytest.skip(f"the server was more than 100 µs late with {', '.join(shares)} of its pieces: the machine is too busy")


@pytest.mark.serial
def test_a_wait_for_a_place_in_flight_is_part_of_the_latency_and_not_of_vllms() -> None:
    """One in flight, 20 ms an answer, users 10 ms apart: the n-th user waits 10 · n ms more than the server sees."""
    from assay.loadgen.serving.metrics_of_other_tools import TOOLS

    pieces = [(0.02, STREAM_HEAD + chat_event({"content": "hi"}, finish="stop") + usage_event(1) + DONE + STREAM_END)]
    with ScriptedServer([ScriptedReply(pieces)], log_room=1024) as server:
        point = run_load(
            LoadSettings(
                url=server.url, model="m", rate=100.0, requests=40, concurrency=1, scheduler="constant", warmup=0
            )
        )
        log = server.log()
    rows = point.exchanges.rows
    wait = (rows["sent_ns"] - rows["intended_ns"]) / 1e6
    sent = np.sort(log["ns"][log["piece"] == 0]) / 1e6
    ours = point.times.values("latency_s") / 1e6
    [theirs] = [figure.values / 1e6 for figure in TOOLS["vllm"](point) if "E2EL" in figure.name]
    assert (ours - theirs).tolist() == pytest.approx(wait.tolist(), abs=0.3)
    assert wait[-1] > 39 * 10 * 0.95
    assert np.median(theirs) < 30
    assert float(np.median(ours - (sent - rows["intended_ns"] / 1e6))) < 1.0
    assert point.delivered.held_back >= 35
    assert not point.verdict.client_bottleneck
    assert "requests waited for one of the places in flight" in point.verdict.undelivered
