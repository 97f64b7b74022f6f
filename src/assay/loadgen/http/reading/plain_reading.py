"""Answers read with the standard library: where the compiled one is missing, and to check that against."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.http.reading.deltas import DELTA, USAGE, Deltas, Kind
from assay.loadgen.http.reading.event_spans import event_spans, join_data

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
