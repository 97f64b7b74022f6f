from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.exchanges import NEW, PIECE, ROW
from assay.loadgen.http.fault import Fault
from assay.loadgen.http.plain.plain_connection import NOBODY


class PlainRequest:
    """One request: its message and limits, and what became of it."""

    __slots__ = (
        "attempts",
        "body",
        "cancel_events",
        "cancel_ns",
        "connection",
        "end_ns",
        "event_stream",
        "fault",
        "first_byte_ns",
        "intended_ns",
        "message",
        "number",
        "piece_end",
        "piece_ns",
        "sent_ns",
        "state",
        "status",
    )

    def __init__(self, number: int, message: int, cancel_ns: int, cancel_events: int) -> None:
        self.number, self.message = number, message
        self.cancel_ns, self.cancel_events = cancel_ns, cancel_events
        self.intended_ns = self.sent_ns = self.first_byte_ns = self.end_ns = 0
        self.connection = NOBODY
        self.status = self.attempts = 0
        self.fault = Fault.NONE
        self.event_stream = False
        self.state = NEW
        self.body = b""
        self.piece_ns: list[int] = []
        self.piece_end: list[int] = []


def request_rows(requests: Sequence[PlainRequest]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.uint8]]:
    """Requests as `Exchanges` has them: rows, pieces of their answers, and bodies one after the other."""
    rows = np.zeros(len(requests), ROW)
    pieces, body = 0, 0
    for row, made in zip(rows, requests, strict=True):
        for field in ("intended_ns", "sent_ns", "first_byte_ns", "end_ns", "connection", "message", "status"):
            row[field] = getattr(made, field)
        row["fault"], row["attempts"] = made.fault, min(made.attempts, 255)
        row["event_stream"], row["state"] = made.event_stream, made.state
        row["piece_start"], row["pieces"] = pieces, len(made.piece_ns)
        row["body_start"], row["body_bytes"] = body, len(made.body)
        pieces += len(made.piece_ns)
        body += len(made.body)
    found = np.zeros(pieces, PIECE)
    found["ns"] = [ns for made in requests for ns in made.piece_ns]
    found["body_end"] = [end for made in requests for end in made.piece_end]
    return rows, found, np.frombuffer(b"".join(made.body for made in requests), np.uint8)
