"""Exchanges as a client would have measured them, written down by hand. Times are milliseconds from the start."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.loadgen.http.exchanges import PIECE, ROW, Exchanges
from assay.loadgen.http.http_client import Fault
from assay.loadgen.serving.load_point import LoadPoint
from assay.loadgen.serving.load_settings import LoadAsked
from assay.loadgen.serving.replies import read_replies
from assay.loadgen.serving.request_metrics import TokenCounts

START = 1_000_000_000
Piece = tuple[float, bytes]


@dataclass(frozen=True)
class Made:
    """One request: when it was to be sent, when it was, and what came when."""

    intended: float
    sent: float
    pieces: Sequence[Piece] = ()
    end: float | None = None
    status: int = 200
    fault: Fault = Fault.NONE
    streamed: bool = True

    def later(self, by: float) -> Made:
        return replace(
            self,
            intended=self.intended + by,
            sent=self.sent + by,
            pieces=[(at + by, data) for at, data in self.pieces],
            end=None if self.end is None else self.end + by,
        )


def event(document: Any) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def delta(text: str = "", finish: str | None = None, **more: Any) -> bytes:
    said = {**({"content": text} if text else {}), **more}
    return event({"choices": [{"index": 0, "delta": said, "finish_reason": finish}]})


def usage(output: int, prompt: int = 5) -> bytes:
    return event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": output}})


ROLE = delta(role="assistant")
DONE = b"data: [DONE]\n\n"


def made_exchanges(requests: Sequence[Made], cpu_s: float = 0.0) -> Exchanges:
    rows = np.zeros(len(requests), ROW)
    pieces: list[tuple[int, int]] = []
    bodies = b""
    for number, each in enumerate(requests):
        row = rows[number]
        row["intended_ns"], row["message"], row["attempts"] = _ns(each.intended), number, 1
        row["sent_ns"] = 0 if each.fault == Fault.NEVER_SENT else _ns(each.sent)
        row["piece_start"], row["pieces"], row["body_start"] = len(pieces), len(each.pieces), len(bodies)
        length = 0
        for at, data in each.pieces:
            bodies += data
            length += len(data)
            pieces.append((_ns(at), length))
        row["body_bytes"] = length
        last = max((at for at, _ in each.pieces), default=each.sent)
        row["end_ns"] = _ns(last if each.end is None else each.end)
        row["status"], row["fault"], row["event_stream"] = each.status, each.fault, each.streamed
        row["state"] = 3
    return Exchanges(rows, np.array(pieces, PIECE), np.frombuffer(bodies, np.uint8), START, "made", cpu_s)


def made_point(
    requests: Sequence[Made],
    asked: LoadAsked | None = None,
    endpoint: str = "chat",
    cpu_s: float = 0.0,
    connections: int = 0,
) -> LoadPoint:
    found = replace(made_exchanges(requests, cpu_s), connections=connections)
    replies = read_replies(found, endpoint)
    return LoadPoint(asked or LoadAsked("poisson", rate=1.0), found, replies, TokenCounts.of(replies, None, None))


def _ns(ms: float) -> int:
    return START + round(ms * 1e6)
