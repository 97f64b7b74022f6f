from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.fault import Fault

ROW = np.dtype(
    [
        ("intended_ns", "<i8"),
        ("sent_ns", "<i8"),
        ("first_byte_ns", "<i8"),
        ("end_ns", "<i8"),
        ("piece_start", "<i8"),
        ("body_start", "<i8"),
        ("body_bytes", "<i8"),
        ("pieces", "<i4"),
        ("connection", "<i4"),
        ("message", "<i4"),
        ("status", "<i2"),
        ("fault", "u1"),
        ("attempts", "u1"),
        ("event_stream", "u1"),
        ("state", "u1"),
        ("spare", "<i2"),
        ("spare2", "<i4"),
    ]
)
"""One request. Times are CLOCK_MONOTONIC; 0 where a thing did not happen. `struct row` in c/http/engine.h is the same.

intended_ns     when it should have been sent; in a closed loop, when its slot became free
sent_ns         just before its first byte was given to the kernel (of the first attempt)
first_byte_ns   arrival of the first byte of the answer
end_ns          arrival of the last byte of the answer, or when the fault was seen
piece_start     number of its first piece; `pieces` follow each other
body_start      where its body begins in `bodies`
connection      number of the connection, counted from 0 in the order they were made; -1: none
message         number of the message sent
attempts        1, or more where a kept-alive connection was found closed and the request was sent again
event_stream    1: the content type of the answer is text/event-stream
state           0 not due yet, 1 due, 2 in flight, 3 ended
"""
NEW, DUE, IN_FLIGHT, ENDED = range(4)

PIECE = np.dtype([("ns", "<i8"), ("body_end", "<i8")])
"""One receipt that brought bytes of a body: when, and how long the body was then."""


@dataclass(frozen=True)
class Exchange:
    """One request and its answer. `row` is of type ROW."""

    row: np.void
    pieces: NDArray[np.void]
    body: bytes

    @property
    def fault(self) -> Fault:
        return Fault(self.row["fault"])

    @property
    def status(self) -> int:
        return int(self.row["status"])


@dataclass(frozen=True)
class Exchanges(Sequence[Exchange]):
    """Everything that a client measured: one row a request, arrival times of pieces, bodies back to back."""

    rows: NDArray[np.void]
    pieces: NDArray[np.void]
    bodies: NDArray[np.uint8]
    start_ns: int
    """CLOCK_MONOTONIC at which the schedule began; intended times are this and the times of the plan."""
    client: str
    """Which client ran: `C` or `Python`, and why where it was not the faster one."""
    cpu_s: float = 0.0
    """CPU time of the client while the run lasted, all its processes."""
    connections: int = 0
    """Connections made, those before the start included."""
    process: NDArray[np.int64] | None = None
    """The client process of each row, where there were several; not kept on disk."""
    notes: tuple[str, ...] = field(default=())
    """What a reader of the numbers must know, such as that the run ended at a limit."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> Exchange:  # type: ignore[override]
        row = self.rows[number]
        start, first = int(row["body_start"]), int(row["piece_start"])
        return Exchange(
            row=row,
            pieces=self.pieces[first : first + int(row["pieces"])],
            body=self.bodies[start : start + int(row["body_bytes"])].tobytes(),
        )

    def faults(self) -> dict[Fault, int]:
        """How many requests ended in which way; only those that occur, answered ones included."""
        counts = np.bincount(self.rows["fault"], minlength=len(Fault))
        return {fault: int(counts[fault]) for fault in Fault if counts[fault]}
