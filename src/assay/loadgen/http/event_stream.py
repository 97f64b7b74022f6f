"""Server-sent events in a body (WHATWG HTML, "Server-sent events", interpreting an event stream)."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Iterator
from ctypes import POINTER, Structure, c_int64, c_void_p
from dataclasses import dataclass, replace
from enum import IntFlag
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.exchanges import Exchanges
from assay.native.library import declare, library


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


_LINE_END = re.compile(rb"\r\n|\n|\r")


def event_spans(body: bytes) -> Iterator[tuple[int, int, int]]:
    """(start of its data, end of its data, end of the event) of each event that has data.

    The last event counts though no empty line ends it: servers leave it out after `[DONE]`. Whether it is whole is
    for its JSON to say.
    """
    start, stop, at = -1, -1, 3 if body.startswith(b"\xef\xbb\xbf") else 0
    while at < len(body):
        ending = _LINE_END.search(body, at)
        line_end, after = (ending.start(), ending.end()) if ending else (len(body), len(body))
        if line_end == at:
            if start >= 0:
                yield start, stop, after
            start = -1
        elif body.startswith(b"data:", at) or body[at:line_end] == b"data":
            value = min(at + 5, line_end)
            value += body[value : value + 1] == b" " and value < line_end
            start, stop = (value if start < 0 else start), line_end
        at = after
    if start >= 0:
        yield start, stop, len(body)


def join_data(span: bytes) -> bytes:
    """Data of an event, from its span: several lines of data are one text."""
    if b"\n" not in span and b"\r" not in span:
        return span
    first, *others = _LINE_END.split(span)
    values = [line[5:].removeprefix(b" ") for line in others if line.startswith(b"data:")]
    return b"\n".join([first, *values])


# Answers read with the standard library: where the compiled one is missing, and to check that against.

_DONE_TYPES = ("response.completed", "response.incomplete")
_ERROR_TYPES = ("response.failed", "error")
_LARGEST = 1 << 62
_COUNTS = {
    "prompt_tokens": "input",
    "input_tokens": "input",
    "completion_tokens": "output",
    "output_tokens": "output",
}
_CACHED, _REASONING = ("cached_tokens", "cached"), ("reasoning_tokens", "reasoning")
_DETAILS = {
    "prompt_tokens_details": _CACHED,
    "input_tokens_details": _CACHED,
    "completion_tokens_details": _REASONING,
    "output_tokens_details": _REASONING,
}


def read_plain(exchanges: Exchanges) -> Deltas:
    rows: list[tuple[int, ...]] = []
    texts: list[bytes] = []
    length = 0
    usage = np.full(len(exchanges), -1, USAGE)
    for request, exchange in enumerate(exchanges):
        body, start = exchange.body, int(exchange.row["body_start"])
        arrived = exchange.pieces["ns"]
        ends = exchange.pieces["body_end"]
        whole = [(0, len(body), len(body))] if body else []
        for first, last, end in event_spans(body) if exchange.row["event_stream"] else whole:
            piece = int(np.searchsorted(ends, end))
            said = _read(join_data(body[first:last]) if exchange.row["event_stream"] else body, usage[request])
            reasoning, content = (_utf8(said.reasoning), _utf8(said.content))
            ns = int(arrived[min(piece, len(arrived) - 1)])
            where = (start + first, last - first, request, int(said.kind), said.choice)
            rows.append((ns, *where, length, len(reasoning), len(content)))
            texts += (reasoning, content)
            length += len(reasoning) + len(content)
    return Deltas(np.array(rows, DELTA), np.frombuffer(b"".join(texts), np.uint8), usage)


class _Said:
    def __init__(self) -> None:
        self.kind = Kind(0)
        self.choice = 0
        self.reasoning = self.content = ""

    def add(self, content: object, reasoning: bool = False) -> None:
        if isinstance(content, str) and content:
            self.kind |= Kind.REASONING if reasoning else Kind.CONTENT
            if reasoning:
                self.reasoning += content
            else:
                self.content += content


def _read(data: bytes, usage: np.void) -> _Said:
    said = _Said()
    if data.strip(b" \t\r\n") == b"[DONE]":
        said.kind = Kind.DONE
        return said
    try:
        document = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        said.kind = Kind.MALFORMED
        return said
    if isinstance(document, dict):
        _read_document(document, said, usage)
    return said


def _read_document(document: dict[str, Any], said: _Said, usage: np.void) -> None:
    if document.get("error") is not None:
        said.kind |= Kind.ERROR
    for choice in _dicts(document.get("choices")):
        _read_choice(choice, said)
    for key, value in document.items():
        if key == "usage":
            _read_usage(value, said, usage)
        elif key == "response" and isinstance(value, dict):
            _read_usage(value.get("usage"), said, usage)
    kind = document.get("type")
    kind = kind if isinstance(kind, str) else ""
    if kind.endswith("output_text.delta"):
        said.add(document.get("delta"))
    elif kind.startswith("response.reasoning") and kind.endswith(".delta"):
        said.add(document.get("delta"), reasoning=True)
    elif kind.startswith("response.function_call_arguments"):
        said.kind |= Kind.TOOL
    elif kind in _DONE_TYPES:
        said.kind |= Kind.DONE
    elif kind in _ERROR_TYPES:
        said.kind |= Kind.ERROR
    for item in _dicts(document.get("output")):
        for part in _dicts(item.get("content")):
            said.add(part.get("text"), reasoning=item.get("type") == "reasoning")


def _read_choice(choice: dict[str, Any], said: _Said) -> None:
    index = choice.get("index")
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < 1 << 31:
        said.choice = index
    said.add(choice.get("text"))
    for key in ("delta", "message"):
        inner = choice.get(key)
        if isinstance(inner, dict):
            if isinstance(inner.get("role"), str):
                said.kind |= Kind.ROLE
            said.add(inner.get("content"))
            said.add(inner.get("reasoning_content"), reasoning=True)
            said.add(inner.get("reasoning"), reasoning=True)
            if isinstance(inner.get("tool_calls"), list) and inner["tool_calls"]:
                said.kind |= Kind.TOOL
    if isinstance(choice.get("finish_reason"), str):
        said.kind |= Kind.FINISH


def _read_usage(found: object, said: _Said, usage: np.void) -> None:
    """A count has a name of each of two APIs; where a server sends both, the one that stands last counts."""
    if not isinstance(found, dict):
        return
    said.kind |= Kind.USAGE
    for key, value in found.items():
        if key in _COUNTS:
            _keep(value, usage, _COUNTS[key])
        elif key in _DETAILS and isinstance(value, dict):
            inner, name = _DETAILS[key]
            _keep(value.get(inner), usage, name)


def _keep(value: object, usage: np.void, name: str) -> None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST:
        usage[name] = value


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _utf8(text: str) -> bytes:
    """Half of a surrogate pair, which JSON can write and UTF-8 cannot, becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


# Answers read by the compiled library (c/http/events.c); what it is not sure of is read in Python.


class _Reading(Structure):
    _fields_ = (
        ("rows", c_void_p),
        ("row_count", c_int64),
        ("pieces", c_void_p),
        ("piece_count", c_int64),
        ("bodies", c_void_p),
        ("body_bytes", c_int64),
        ("deltas", c_void_p),
        ("delta_room", c_int64),
        ("counts", c_void_p),
        ("texts", c_void_p),
        ("text_bytes", c_int64),
        ("unsure", c_void_p),
    )


@cache
def reading_functions() -> ctypes.CDLL | None:
    loaded = library()
    if loaded is not None:
        signature = (c_int64, (POINTER(_Reading),))
        declare(loaded, {"delta_most": signature, "delta_read_all": signature})
    return loaded


def read_compiled(loaded: ctypes.CDLL, exchanges: Exchanges) -> Deltas:
    rows = np.ascontiguousarray(exchanges.rows)
    pieces, bodies = np.ascontiguousarray(exchanges.pieces), np.ascontiguousarray(exchanges.bodies)
    usage = np.empty(len(rows), USAGE)
    unsure = np.zeros(len(rows), np.uint8)
    texts = np.empty(len(bodies), np.uint8)
    reading = _Reading(
        rows=rows.ctypes.data,
        row_count=len(rows),
        pieces=pieces.ctypes.data,
        piece_count=len(pieces),
        bodies=bodies.ctypes.data,
        body_bytes=len(bodies),
        counts=usage.ctypes.data,
        texts=texts.ctypes.data,
        unsure=unsure.ctypes.data,
    )
    deltas = np.empty(loaded.delta_most(ctypes.byref(reading)), DELTA)
    reading.deltas, reading.delta_room = deltas.ctypes.data, len(deltas)
    count = loaded.delta_read_all(ctypes.byref(reading))
    found = Deltas(deltas[:count], texts[: reading.text_bytes], usage)
    return _read_again(exchanges, found, np.flatnonzero(unsure)) if unsure.any() else found


def _read_again(exchanges: Exchanges, found: Deltas, unsure: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Deltas:
    plain = read_plain(replace(exchanges, rows=exchanges.rows[unsure]))
    again = plain.rows.copy()
    again["request"] = unsure[again["request"]]
    again["text_start"] += len(found.texts)
    rows = np.concatenate([found.rows, again])
    usage = found.usage.copy()
    usage[unsure] = plain.usage
    order = np.argsort(rows["request"], kind="stable")
    return Deltas(rows[order], np.concatenate([found.texts, plain.texts]), usage)


def read_deltas(exchanges: Exchanges) -> Deltas:
    """What the answers of an OpenAI-compatible server say, event by event, with arrival times."""
    loaded = reading_functions()
    return read_plain(exchanges) if loaded is None else read_compiled(loaded, exchanges)
