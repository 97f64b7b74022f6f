from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

import numpy as np
from numpy.typing import NDArray


class Kind(IntFlag):
    """What one event of an answer holds. The same numbers as in c/http/delta.h."""

    ROLE = 1
    CONTENT = 2
    """Text of the answer, not empty."""
    REASONING = 4
    TOOL = 8
    """Part of a tool call."""
    USAGE = 16
    FINISH = 32
    """A finish reason."""
    DONE = 64
    """`[DONE]`, or the last event of a `responses` stream."""
    ERROR = 128
    """The server says in the stream that it failed."""
    MALFORMED = 256
    """Not JSON."""


DELTA = np.dtype(
    [
        ("ns", "<i8"),
        ("data_start", "<i8"),
        ("data_bytes", "<i4"),
        ("request", "<i4"),
        ("kind", "<u4"),
        ("choice", "<i4"),
        ("text_start", "<i8"),
        ("reasoning_bytes", "<i4"),
        ("text_bytes", "<i4"),
    ]
)
"""One event of a stream, or the whole body of an answer that is not one. `struct delta` in c/http/delta.h is the same.

ns               arrival of its last byte (CLOCK_MONOTONIC)
data_start       where its data lies in the bodies of the exchanges; lines of data that follow each other: all of them
request          row of the exchange
kind             bits of Kind
choice           index of the choice, 0 unless several were asked for
text_start       where its text lies in `Deltas.texts`: reasoning first, then content
"""

USAGE = np.dtype([("input", "<i8"), ("output", "<i8"), ("reasoning", "<i8"), ("cached", "<i8")])
"""Tokens as the server counts them, one row an exchange; -1 where it did not say."""


@dataclass(frozen=True)
class Deltas:
    """All events of all exchanges, in the order of the requests and of arrival."""

    rows: NDArray[np.void]
    texts: NDArray[np.uint8]
    """UTF-8 text of the answers, without the escapes of JSON."""
    usage: NDArray[np.void]

    def text(self, request: int, reasoning: bool = False) -> str:
        """Text of one answer (of all its choices, as it came)."""
        first, last = np.searchsorted(self.rows["request"], [request, request + 1])
        parts = []
        for row in self.rows[first:last]:
            start, middle = int(row["text_start"]), int(row["text_start"] + row["reasoning_bytes"])
            part = (start, middle) if reasoning else (middle, middle + int(row["text_bytes"]))
            parts.append(self.texts[part[0] : part[1]].tobytes())
        return b"".join(parts).decode("utf-8", "replace")
