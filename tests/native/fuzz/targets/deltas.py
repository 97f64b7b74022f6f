"""Bodies of answers of language-model servers: the compiled reading against the plain one, event by event."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from tests.native.fuzz.target import Target

from assay.loadgen.http.event_stream import Deltas, read_compiled, read_plain, reading_functions
from assay.loadgen.http.exchanges import PIECE, ROW, Exchanges

MOST = 8
_FIELDS = ("ns", "data_start", "data_bytes", "request", "kind", "choice", "reasoning_bytes", "text_bytes")


class DeltasTarget(Target):
    name = "deltas"
    longest = 2048
    words = (
        'data: {"choices": [{"index": 0, "delta": {"content": "', '"}}]}\n\n', "data: [DONE]\n\n",
        '"reasoning_content": "', '"tool_calls": [{', '"finish_reason": "stop"',
        '"usage": {"prompt_tokens": 7, "completion_tokens": 9}', "\r\n", "\r",
        '"prompt_tokens_details": {"cached_tokens": 4}', '"type": "response.output_text.delta", "delta": "',
        "event: x\n", '"type": "response.completed"', '"error": {"message": "', "\\u00e9", "\\ud83d\\ude00",
        "\\ud800", "\xff", ": ping\n", "\xef\xbb\xbf", "null", "true", "1e400", "-0", "NaN", "[[[[[[",
        '{"message": {"content": ', '"role": "assistant"', "9223372036854775808", '"text": "',
    )  # fmt: skip

    def seeds(self) -> Iterator[bytes]:
        documents = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
            {"choices": [{"index": 1, "delta": {"content": 'a "quote" \n é 😀'}, "finish_reason": "stop"}]},
            {"choices": [{"delta": {"reasoning_content": "hm", "tool_calls": [{"function": {"arguments": "{}"}}]}}]},
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 9}},
            {"usage": {"output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}}},
            {"type": "response.output_text.delta", "delta": "from responses"},
            {"type": "response.completed", "response": {"usage": {"input_tokens": 4, "output_tokens": 6}}},
            {"output": [{"type": "reasoning", "content": [{"text": "r"}]}, {"type": "message", "content": []}]},
            {"choices": [{"message": {"content": "whole"}}], "error": None},
            {"error": {"message": "overloaded"}},
        ]
        for document in documents:
            yield b"\x10" + json.dumps(document).encode()
            yield b"\x21data: " + json.dumps(document, ensure_ascii=False).encode() + b"\r\n\r\ndata: [DONE]\n\n"
        events = b"".join(b"data: " + json.dumps(document).encode() + b"\n\n" for document in documents[:4])
        yield b"\x0f" + events + b"\xff: ping\n\nevent: x\ndata: a\ndata: b\n\n\xff" + events[:90]

    def difference(self, data: bytes) -> str | None:
        loaded = reading_functions()
        if not data or loaded is None:
            return None
        exchanges = _exchanges(data[1:].split(b"\xff")[:MOST], bool(data[0] & 1), (data[0] >> 1) + 1)
        compiled, plain = _listed(read_compiled(loaded, exchanges)), _listed(read_plain(exchanges))
        return None if compiled == plain else f"compiled: {compiled}\nplain: {plain}"


def _exchanges(bodies: list[bytes], streamed: bool, receipt: int) -> Exchanges:
    rows = np.zeros(len(bodies), ROW)
    pieces: list[tuple[int, int]] = []
    start = 0
    for row, body in zip(rows, bodies, strict=True):
        ends = [*range(receipt, len(body), receipt), len(body)] if body else []
        row["body_start"], row["body_bytes"] = start, len(body)
        row["piece_start"], row["pieces"], row["event_stream"] = len(pieces), len(ends), streamed
        pieces += [(1000 * (number + 1), end) for number, end in enumerate(ends)]
        start += len(body)
    return Exchanges(rows, np.array(pieces, PIECE), np.frombuffer(b"".join(bodies), np.uint8), 0, "made up")


def _listed(deltas: Deltas) -> object:
    texts = [
        deltas.texts[row["text_start"] : row["text_start"] + row["reasoning_bytes"] + row["text_bytes"]].tobytes()
        for row in deltas.rows
    ]
    return [[row[name].item() for name in _FIELDS] for row in deltas.rows], texts, deltas.usage.tolist()


TARGET = DeltasTarget()
