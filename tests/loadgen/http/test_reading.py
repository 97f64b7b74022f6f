"""Answers read after the run: the compiled reader says what json and a plain reading of the events say."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from assay.loadgen.http.event_stream import Kind, read_compiled, read_deltas, read_plain, reading_functions
from assay.loadgen.http.exchanges import PIECE, ROW, Exchanges


def exchanges_of(bodies: list[bytes], streamed: bool = True, receipt: int = 7) -> Exchanges:
    """One exchange a body; `receipt` bytes came at a time, the nth of them at 1000 n."""
    rows = np.zeros(len(bodies), ROW)
    pieces: list[tuple[int, int]] = []
    start = 0
    for row, body in zip(rows, bodies, strict=True):
        ends = [*range(receipt, len(body), receipt), len(body)] if body else []
        row["body_start"], row["body_bytes"] = start, len(body)
        row["piece_start"], row["pieces"] = len(pieces), len(ends)
        row["event_stream"], row["status"] = streamed, 200
        pieces += [(1000 * (number + 1), end) for number, end in enumerate(ends)]
        start += len(body)
    return Exchanges(rows, np.array(pieces, PIECE), np.frombuffer(b"".join(bodies), np.uint8), 0, "made up")


def chunk(**delta: Any) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def sse(*documents: Any, end: str = "\n") -> bytes:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in documents]
    return "".join(f"data: {text}{end}{end}" for text in texts).encode()


DOCUMENTS = [
    chunk(role="assistant", content=""),
    chunk(content="Hello"),
    chunk(content='"quoted" \\ / \b\f\n\r\t é ü 漢字 😀'),
    chunk(reasoning_content="thinking"),
    chunk(reasoning="hm", content="both"),
    chunk(tool_calls=[{"index": 0, "function": {"arguments": "{}"}}]),
    chunk(tool_calls=[]),
    chunk(content=None),
    {"choices": [{"index": 3, "text": "completion", "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 9}},
    {"usage": {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}},
    {"usage": {"output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}}},
    {"usage": {"prompt_tokens": -1, "completion_tokens": 2.5, "input_tokens": True}},
    {"usage": None},
    {"type": "response.output_text.delta", "delta": "from responses"},
    {"delta": "before its type", "type": "response.output_text.delta"},
    {"type": "response.reasoning_summary_text.delta", "delta": "why"},
    {"type": "response.completed", "response": {"usage": {"input_tokens": 4, "output_tokens": 6}}},
    {"type": "response.failed"},
    {"output": [{"type": "reasoning", "content": [{"text": "r"}]}, {"type": "message", "content": [{"text": "m"}]}]},
    {"output": [{"content": [{"text": "late"}], "type": "reasoning"}]},
    {"error": {"message": "overloaded"}},
    {"error": None},
    {"error": "text"},
    {"choices": [{"message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"}]},
    {"choices": [{"text": "part"}] * 40},
    {"object": "list", "data": [{"embedding": [0.1, -2e-3, 1e9]}]},
    [1, 2, {"choices": []}],
    "[DONE]",
    " [DONE] ",
    "[DONE] x",
    "null",
    "12",
    "",
    "{",
    '{"choices": [{"delta": {"content": "cut',
    '{"choices": NaN}',
    '{"a": 01}',
    '{"a": 1.}',
    '{"a": "\\x"}',
    '{"a": "\\u12"}',
    '{"choices": [{"delta": {"content": "\\ud83d\\ude00 \\ud83d \\ude00 \\u0041"}}]}',
    '{"choices": [{"delta": {"\\u0063ontent": "escaped key"}}]}',
    '{"a": {"choices": [{"text": "not here"}]}}',
    '{"choices": [{"text": "a"},]}',
    '{"a" 1}',
    "{} {}",
    "<!doctype html>",
    "[" * 100 + "]" * 100,
]


def assert_same(made: Exchanges) -> None:
    loaded = reading_functions()
    assert loaded is not None
    plain, compiled = read_plain(made), read_compiled(loaded, made)
    for name in ("ns", "data_start", "data_bytes", "request", "kind", "choice", "reasoning_bytes", "text_bytes"):
        assert plain.rows[name].tolist() == compiled.rows[name].tolist(), name
    assert plain.usage.tolist() == compiled.usage.tolist()
    for request in range(len(made)):
        assert plain.text(request) == compiled.text(request)
        assert plain.text(request, reasoning=True) == compiled.text(request, reasoning=True)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_compiled_reader_agrees_with_json_on_every_form(end: str) -> None:
    assert_same(exchanges_of([sse(document, end=end) for document in DOCUMENTS]))
    assert_same(exchanges_of([sse(*DOCUMENTS, end=end)] * 2))


def test_whole_answers_are_read_as_one_document() -> None:
    bodies = [one.encode() if isinstance(one, str) else json.dumps(one).encode() for one in DOCUMENTS]
    assert_same(exchanges_of(bodies, streamed=False))


def test_damaged_streams_are_read_the_same_by_both() -> None:
    rng = random.Random(7)
    whole = bytearray(sse(*DOCUMENTS) + b": ping\n\nevent: x\ndata: {\ndata: }\n\ndata\n\n\xef\xbb\xbfdata: 1\n")
    bodies = []
    for _ in range(300):
        body = bytearray(whole[rng.randrange(len(whole)) :][: rng.randrange(1, 600)])
        for _ in range(rng.randrange(4)):
            body[rng.randrange(len(body))] = rng.choice(b'\n\r{}[]",:\\ud0\x00\xff\xe6 ')
        bodies.append(bytes(body))
    assert_same(exchanges_of(bodies))


def test_an_event_arrives_with_its_last_byte() -> None:
    body = sse(chunk(content="a"), chunk(content="b"), "[DONE]")
    first = body.index(b"\n\n") + 2
    found = read_deltas(exchanges_of([body], receipt=1))
    assert found.rows["ns"].tolist() == [1000 * first, 2000 * first, 1000 * len(body)]
    assert found.rows["kind"].tolist() == [Kind.CONTENT, Kind.CONTENT, Kind.DONE]
    assert found.text(0) == "ab"
