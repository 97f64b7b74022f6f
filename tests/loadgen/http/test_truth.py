"""Arrival times that the clients record, against the send times that the server logged."""

from __future__ import annotations

import numpy as np
import pytest

from assay.loadgen.http.compiled_client import CompiledClient
from assay.loadgen.http.event_stream import Kind, read_deltas
from assay.loadgen.http.exchanges import PIECE, ROW, Exchanges, load, mask, save
from assay.loadgen.http.http_client import ClientLimits, Fault, RequestPlan
from assay.loadgen.http.plain_client import PlainClient
from assay.loadgen.http.server import (
    DONE,
    STREAM_END,
    STREAM_HEAD,
    ConnectionEnding,
    ScriptedReply,
    ScriptedServer,
    answer,
    chat_event,
)
from assay.loadgen.http.target import Target

TOKEN = chat_event({"content": "x"})
SCRIPTS = {
    "steady": [(0.004, STREAM_HEAD + TOKEN), *[(0.003, TOKEN)] * 9, (0.003, TOKEN + DONE + STREAM_END)],
    "late first token": [(0.040, STREAM_HEAD + TOKEN), *[(0.002, TOKEN)] * 4, (0.002, DONE + STREAM_END)],
    "stall": [(0.002, STREAM_HEAD + TOKEN), (0.050, TOKEN), (0.002, TOKEN + DONE + STREAM_END)],
    "batches": [(0.005, STREAM_HEAD + TOKEN * 3), (0.010, TOKEN * 4), (0.010, TOKEN * 2 + DONE + STREAM_END)],
    "split event": [(0.005, STREAM_HEAD + TOKEN[:50]), (0.010, TOKEN[50:]), (0.003, DONE + STREAM_END)],
    "cut": [(0.004, STREAM_HEAD + TOKEN), (0.004, TOKEN)],
}
REPLIES = [
    ScriptedReply(pieces, ConnectionEnding.CLOSE if name == "cut" else ConnectionEnding.KEEP)
    for name, pieces in SCRIPTS.items()
]
ROUNDS = 12


@pytest.mark.parametrize("client_class", [CompiledClient, PlainClient])
def test_every_token_has_the_time_of_the_piece_that_brought_its_end(
    client_class: type[CompiledClient] | type[PlainClient],
) -> None:
    count = ROUNDS * len(SCRIPTS)
    with ScriptedServer(REPLIES, in_turn=True, log_room=20 * count) as server:
        target = Target.parse(server.url)
        messages = [target.message(f"/v1/chat/completions?request={n}", b'{"stream": true}') for n in range(count)]
        with client_class(target, ClientLimits(most_in_flight=4)) as client:
            client.connect(4)
            client.submit_plan(RequestPlan(messages, count))
            client.run()
            found = client.exchanges()
        log = server.log()
    assert found.faults() == {Fault.NONE: count - ROUNDS, Fault.CUT: ROUNDS}
    events = read_deltas(found).rows
    tokens = events[events["kind"] & Kind.CONTENT != 0]
    late: dict[tuple[int, int], list[int]] = {}
    for number in range(count):
        _, pieces = list(SCRIPTS.items())[number % len(SCRIPTS)]
        sent = {int(row["piece"]): int(row["ns"]) for row in log[log["request"] == number]}
        # An event counts for the piece that brought its end.
        ends = np.cumsum([piece.count(b"\n\n") - piece.count(b"[DONE]") for _, piece in pieces])
        arrived = tokens["ns"][tokens["request"] == number]
        assert len(arrived) == ends[-1]
        for token, ns in enumerate(arrived):
            piece = int(np.searchsorted(ends, token, side="right"))
            assert ns >= sent[piece]
            late.setdefault((number % len(SCRIPTS), token), []).append(int(ns) - sent[piece])
    # On a machine that does other things a wake-up may be late; that of another piece is late in every round, by the
    # shortest gap of the scripts at least.
    assert max(min(rounds) for rounds in late.values()) < 2_000_000


def test_what_was_measured_is_kept_without_the_key(tmp_path) -> None:
    echo = answer("401 Unauthorized", b'{"error": {"message": "Incorrect API key provided: sk-secret-123"}}')
    with ScriptedServer([ScriptedReply([(0, echo)])]) as server:
        target = Target.parse(server.url, headers={"Authorization": "Bearer sk-secret-123"})
        assert "sk-secret" not in repr(target)
        with CompiledClient(target, ClientLimits(most_in_flight=1)) as client:
            client.submit_plan(RequestPlan([target.message("/v1/models", method="GET")], 2))
            client.run()
            found = client.exchanges()
    assert b"sk-secret-123" in found[0].body
    save(mask(found, target.secrets()), tmp_path / "exchanges")
    again = load(tmp_path / "exchanges")
    assert again.rows.tolist() == found.rows.tolist()
    assert again.pieces.tolist() == found.pieces.tolist()
    assert b"provided: *************" in again[1].body
    for path in (tmp_path / "exchanges").iterdir():
        assert b"sk-secret" not in path.read_bytes()


@pytest.mark.parametrize("before", [0, (1 << 18) - 3, 1 << 18, (1 << 19) - 9])
def test_a_secret_is_masked_wherever_it_lies_in_the_answers(before: int) -> None:
    secret = b"sk-very-secret"
    bodies = np.frombuffer(b"." * before + secret + b"." * 100, np.uint8)
    none = np.empty(0, ROW), np.empty(0, PIECE)
    masked = mask(Exchanges(*none, bodies, 0, "C"), [b"not there", secret]).bodies.tobytes()
    assert masked == b"." * before + b"*" * len(secret) + b"." * 100
