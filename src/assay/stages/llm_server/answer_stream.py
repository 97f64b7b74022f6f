from __future__ import annotations

import json
import select
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from assay.errors import AssayError
from assay.loadgen.http.event_stream import event_spans, join_data
from assay.loadgen.http.http_client import ClientLimits, Fault, fault_of_status, resolve
from assay.loadgen.http.plain_connection import Phase, PlainConnection
from assay.loadgen.http.response_reader import State
from assay.loadgen.http.target import Target

_SHOWN = 300


class ServerFailed(AssayError):
    """A request that was not answered as it should be."""


@dataclass(frozen=True)
class AnswerPiece:
    """One event of a streamed answer that holds text or the count of tokens."""

    text: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None


class AnswerStreams:
    """Requests to a server, whose answers are read while they come. Connections are kept for the next request."""

    def __init__(self, target: Target, limits: ClientLimits) -> None:
        self._target = target
        self._limits = limits
        self._tls = target.tls()
        self._addresses = resolve(target)
        self._idle: list[PlainConnection] = []
        self._made = 0

    def ask(self, message: bytes) -> Iterator[AnswerPiece]:
        """Raises ServerFailed, in mid-stream too. A kept connection that the server has closed is made anew, once."""
        kept = bool(self._idle)
        connection = self._idle.pop() if kept else self._connect()
        try:
            fault = yield from self._exchange(connection, message)
            if fault is not Fault.NONE and kept and not connection.reader.status:
                connection.close()
                connection = self._connect()
                fault = yield from self._exchange(connection, message)
            self._check(connection, fault)
            if connection.reader.keep_alive:
                connection.end_request()
                self._idle.append(connection)
                return
        except GeneratorExit:
            connection.close()  # What is left of the answer would be taken for the next one.
            raise
        except ServerFailed:
            connection.close()
            raise
        connection.close()

    def close(self) -> None:
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    def _connect(self) -> PlainConnection:
        why = ""
        for address in self._addresses:
            connection = PlainConnection(self._made, address, self._tls, self._target.host)
            self._made += 1
            until = time.monotonic() + self._limits.connect_s
            fault = Fault.NONE
            while connection.phase is not Phase.IDLE and fault is Fault.NONE:
                if not _wait(connection, connection.wants_write, until):
                    fault = Fault.CONNECT_TIMEOUT
                    break
                fault = connection.advance()
            if fault is Fault.NONE:
                return connection
            why = connection.error or fault.sentence
            connection.close()
        raise ServerFailed(f"{self._target.url}: {Fault.REFUSED.sentence}: {why}")

    def _exchange(self, connection: PlainConnection, message: bytes) -> Generator[AnswerPiece, None, Fault]:
        connection.begin(0, message, no_body=False)
        until = time.monotonic() + self._limits.total_s
        reader, read = connection.reader, 0
        connection.send()
        while reader.state < State.DONE:
            idle = min(time.monotonic() + self._limits.idle_s, until)
            if not connection.pending() and not _wait(connection, connection.wants_write, idle):
                return Fault.TOTAL_TIMEOUT if time.monotonic() >= until else Fault.IDLE_TIMEOUT
            if connection.wants_write:
                connection.send()
            data = connection.receive()
            if data is None:
                continue
            if isinstance(data, Fault):
                return data
            if not data:
                reader.feed_end()
                if reader.state != State.DONE:
                    return Fault.CUT if reader.status else Fault.CLOSED
            reader.feed(data)
            if len(reader.body) > self._limits.most_answer_bytes:
                return Fault.TOO_LARGE
            if reader.status == 200 and reader.event_stream:
                read = yield from _pieces(reader.body, read, whole=reader.state == State.DONE)
        if reader.state == State.MALFORMED:
            return Fault.MALFORMED
        if reader.status == 200 and not reader.event_stream:
            yield from _document(bytes(reader.body))
        return Fault.NONE

    def _check(self, connection: PlainConnection, fault: Fault) -> None:
        status = connection.reader.status
        if fault is Fault.NONE:
            fault = fault_of_status(status)
        if fault is not Fault.NONE:
            said = " ".join(connection.reader.body[:_SHOWN].decode("utf-8", "replace").split())
            code = f" (status {status}: {said})" if status >= 300 else ""
            raise ServerFailed(f"{self._target.url}: {fault.sentence}{code}")


def _wait(connection: PlainConnection, write: bool, until: float) -> bool:
    """Until the connection can be read, or also written; False at the time limit."""
    poll = select.poll()
    poll.register(connection, select.POLLIN | (select.POLLOUT if write else 0))
    return bool(poll.poll(max(until - time.monotonic(), 0.0) * 1000))


def _pieces(body: bytearray, start: int, whole: bool) -> Generator[AnswerPiece, None, int]:
    """Pieces of the complete events from `start` on. Returns where the next one begins."""
    new = bytes(body[start:])
    at = 0
    for first, last, end in event_spans(new):
        if end == len(new) and not new.endswith((b"\n\n", b"\r\n\r\n", b"\r\r")) and not whole:
            break
        at = end
        data = join_data(new[first:last])
        if data.strip() != b"[DONE]":
            yield from _document(data)
    return start + at


def _document(data: bytes) -> Iterator[AnswerPiece]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise ServerFailed(f"the server sent what is no JSON: {data[:_SHOWN].decode('utf-8', 'replace')}") from None
    if not isinstance(document, dict) or document.get("error") is not None:
        raise ServerFailed(f"the server says that it failed: {json.dumps(document)[:_SHOWN]}")
    usage = document.get("usage")
    counts = [_count(usage, key) for key in ("prompt_tokens", "completion_tokens")]
    text = "".join(_text(choice) for choice in document.get("choices") or () if isinstance(choice, dict))
    if text or counts != [None, None]:
        yield AnswerPiece(text, *counts)


def _text(choice: dict[str, Any]) -> str:
    parts = [choice.get("text")]
    for key in ("delta", "message"):
        inner = choice.get(key)
        if isinstance(inner, dict):
            parts += [inner.get("reasoning_content"), inner.get("content")]
    return "".join(part for part in parts if isinstance(part, str))


def _count(usage: Any, key: str) -> int | None:
    found = usage.get(key) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 1 << 62 else None
