from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.event_stream import Deltas, Kind, read_deltas
from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.http.http_client import Fault
from assay.loadgen.load_result import Ints


@dataclass(frozen=True)
class Replies:
    """What the bodies said: a row a request, and a row a chunk that held at least one token."""

    failures: tuple[str, ...]
    """Kind of the error of each request, the connection's or the answer's; empty where it was answered in full."""
    messages: tuple[str, ...]
    """What is known about an error, in the server's words where it said any."""
    usage_input: Ints
    """Input tokens by the server's `usage`; -1 where it sent none."""
    usage_output: Ints
    chunk_starts: Ints
    """Place of each request's first chunk, and the number of all at the end."""
    chunk_at: Ints
    """Arrival in nanoseconds."""
    chunk_is_output: NDArray[np.bool_]
    """False: it held reasoning only."""
    deltas: Deltas | None = field(default=None, repr=False)

    @cached_property
    def good(self) -> NDArray[np.bool_]:
        return np.fromiter((not failure for failure in self.failures), np.bool_, len(self.failures))

    @cached_property
    def chunks(self) -> Ints:
        """Number of chunks with tokens of each request."""
        return np.diff(self.chunk_starts)

    @cached_property
    def chunk_request(self) -> Ints:
        """The request that each chunk belongs to."""
        return np.repeat(np.arange(len(self.failures)), self.chunks)

    def text(self, request: int) -> str:
        """The answer to one request, reasoning first."""
        if self.deltas is None:
            return ""
        return self.deltas.text(request, reasoning=True) + self.deltas.text(request)


NOT_AN_ANSWER, MALFORMED_CHUNK, ERROR_EVENT, CUT = "not_an_answer", "malformed_chunk", "error_event", "cut"
_TOKENS = Kind.CONTENT | Kind.REASONING | Kind.TOOL
_ENDS = Kind.DONE | Kind.FINISH
_NAMES = ["" if fault is Fault.NONE else fault.name.lower() for fault in Fault]
_SHOWN = 160


def read_replies(exchanges: Exchanges, endpoint: str) -> Replies:
    """What all bodies of a run say. A body that is not what the endpoint answers makes its request an error, whatever
    its status, so that it does not count as a fast answer."""
    count = len(exchanges)
    failures = [_NAMES[fault] for fault in exchanges.rows["fault"].tolist()]
    messages = [""] * count
    for place in np.flatnonzero(exchanges.rows["fault"]).tolist():
        messages[place] = _fault_message(exchanges, place)
    if endpoint == "http":
        return _plain(failures, messages)
    deltas = read_deltas(exchanges)
    # Field by field: a copy of whole rows, 56 bytes each, costs as much as reading the answers does.
    request, kind = deltas.rows["request"], deltas.rows["kind"]
    held = _kinds(request, kind, count)
    streamed = exchanges.rows["event_stream"] == 1
    answers = np.full(count, int(_TOKENS | _ENDS | Kind.USAGE))
    wrong = (
        (held & answers == 0) | (held & int(Kind.MALFORMED | Kind.ERROR) != 0) | (streamed & (held & int(_ENDS) == 0))
    )
    for place in np.flatnonzero(wrong & (exchanges.rows["fault"] == 0)).tolist():
        failures[place], messages[place] = _judge(exchanges, place, Kind(int(held[place])), endpoint)
    chunks = (kind & int(_TOKENS)) != 0
    if not streamed.all():
        chunks &= streamed[request]
    counts = np.bincount(request[chunks], minlength=count)
    return Replies(
        failures=tuple(failures),
        messages=tuple(messages),
        usage_input=deltas.usage["input"],
        usage_output=deltas.usage["output"],
        chunk_starts=np.concatenate([[0], np.cumsum(counts)]),
        chunk_at=deltas.rows["ns"][chunks],
        chunk_is_output=(kind[chunks] & int(Kind.CONTENT | Kind.TOOL)) != 0,
        deltas=deltas,
    )


def _plain(failures: list[str], messages: list[str]) -> Replies:
    """Answers of which only the arrival is of interest."""
    unknown, none = np.full(len(failures), -1, np.int64), np.zeros(len(failures) + 1, np.int64)
    empty = np.empty(0, np.int64)
    return Replies(tuple(failures), tuple(messages), unknown, unknown, none, empty, np.empty(0, np.bool_))


def _kinds(request: NDArray[np.int32], kind: NDArray[np.uint32], count: int) -> Ints:
    """What all events of a request held together. Events stand in the order of the requests."""
    held = np.zeros(count, np.int64)
    if len(request):
        firsts = np.flatnonzero(np.diff(request, prepend=-1))
        held[request[firsts]] = np.bitwise_or.reduceat(kind, firsts)
    return held


def _judge(exchanges: Exchanges, place: int, held: Kind, endpoint: str) -> tuple[str, str]:
    """Kind and message of what is wrong with an answer that came whole; empty where nothing is after all."""
    exchange = exchanges[place]
    streamed = bool(exchange.row["event_stream"])
    if held & Kind.ERROR:
        return ERROR_EVENT, read_error(exchange.body)
    if held & Kind.MALFORMED:
        if streamed and held & _TOKENS:
            return MALFORMED_CHUNK, "a chunk of the stream is not JSON"
        return NOT_AN_ANSWER, f"the answer is not JSON: {read_error(exchange.body)}"
    if not exchange.body:
        return CUT, "the answer is empty"
    if streamed:
        return CUT, "the stream ended without a finish_reason or [DONE]"
    if endpoint == "embeddings" and b'"embedding"' in exchange.body:
        return "", ""
    return NOT_AN_ANSWER, f"the answer is not one of {endpoint}: {read_error(exchange.body)}"


def _fault_message(exchanges: Exchanges, place: int) -> str:
    """What the client saw, and what the server said to it."""
    exchange = exchanges[place]
    if exchange.status >= 300:
        return f"{exchange.status}: {read_error(exchange.body) or exchange.fault.sentence}"
    return exchange.fault.sentence


def read_error(body: bytes) -> str:
    """The server's words for what went wrong; the beginning of whatever it sent where it has none.

    In use are `{"error": {"message"}}`, `{"error"}`, `{"detail"}` and `{"message"}`.
    """
    message = ""
    for part in reversed(body.split(b"data:") if b"data:" in body else [body]):
        try:
            message = message or _error(json.loads(part.partition(b"\nevent:")[0]))
        except (ValueError, RecursionError):
            continue
    return message or " ".join(body[: 4 * _SHOWN].decode("utf-8", "replace").split())[:_SHOWN]


def _error(written: Any) -> str:
    if not isinstance(written, Mapping):
        return ""
    error = written.get("error") or written.get("detail") or written.get("message")
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("type")
    return "" if error is None else str(error)[:400]
