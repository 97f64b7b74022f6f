"""Answers as an OpenAI-compatible server gives them, ready to be sent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from assay.loadgen.http.server.scripted_server import ScriptedReply

STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
STREAM_END = b"0\r\n\r\n"
_ABOUT = {"id": "chatcmpl-0123456789abcdef", "created": 1700000000, "model": "null"}
_INPUT_TOKENS = 16
_DIMENSIONS = 64


def chunk(data: bytes) -> bytes:
    """A chunk of HTTP/1.1's chunked coding."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(document: object) -> bytes:
    """A server-sent event in a chunk of its own."""
    return chunk(b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\n\n")


DONE = chunk(b"data: [DONE]\n\n")


def answer(status: str, body: bytes, content_type: str = "application/json") -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def chat_event(delta: dict[str, Any], finish: str | None = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return event({**_ABOUT, "object": "chat.completion.chunk", "choices": [choice], **more})


def text_event(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
    return event({**_ABOUT, "object": "text_completion", "choices": [choice]})


def usage_event(tokens: int) -> bytes:
    return event({**_ABOUT, "object": "chat.completion.chunk", "choices": [], "usage": usage(tokens)})


def response_event(kind: str, **more: object) -> bytes:
    """An event of the `responses` endpoint, which says its kind twice."""
    data = json.dumps({"type": kind, **more}, separators=(",", ":")).encode()
    return chunk(b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n")


def response_usage(tokens: int) -> dict[str, int]:
    return {"input_tokens": _INPUT_TOKENS, "output_tokens": tokens, "total_tokens": _INPUT_TOKENS + tokens}


def usage(tokens: int) -> dict[str, int]:
    return {
        "prompt_tokens": _INPUT_TOKENS,
        "completion_tokens": tokens,
        "total_tokens": _INPUT_TOKENS + tokens,
    }


def null_replies(tokens: int, gap_s: float = 0.0) -> list[ScriptedReply]:
    """What the null server answers: `tokens` tokens, all at once or each `gap_s` after the one before."""
    words = [f"word{number} " for number in range(tokens)]
    chat = [
        chat_event({"role": "assistant", "content": words[0]}),
        *(chat_event({"content": word}) for word in words[1:-1]),
    ]
    chat += [chat_event({"content": words[-1]}, finish="length")] if tokens > 1 else []
    text = [*(text_event(word) for word in words[:-1]), text_event(words[-1], finish="length")]
    whole = "".join(words)
    message = {"index": 0, "message": {"role": "assistant", "content": whole}, "finish_reason": "length"}
    plain = {"index": 0, "text": whole, "finish_reason": "length"}
    vectors = [{"object": "embedding", "index": 0, "embedding": [0.01 * number for number in range(_DIMENSIONS)]}]
    models = {"object": "list", "data": [{"id": "null", "object": "model", "owned_by": "assay"}]}
    return [
        ScriptedReply(_pace(chat, tokens, gap_s), path="chat/completions", streamed=True),
        _whole(
            "chat/completions", {**_ABOUT, "object": "chat.completion", "choices": [message], "usage": usage(tokens)}
        ),
        ScriptedReply(_pace(text, tokens, gap_s), path="completions", streamed=True),
        _whole("completions", {**_ABOUT, "object": "text_completion", "choices": [plain], "usage": usage(tokens)}),
        ScriptedReply(_response(words, gap_s), path="responses", streamed=True),
        _whole("responses", _response_object("completed", whole, tokens)),
        _whole("embeddings", {"object": "list", "data": vectors, "model": "null", "usage": usage(0)}),
        _whole("/", models),
    ]


def _response_object(status: str, text: str, tokens: int) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    said = [{"type": "message", "role": "assistant", "status": status, "content": [part]}] if text else []
    about = {"id": "resp_0123456789abcdef", "object": "response", "created_at": 1700000000, "model": "null"}
    return {**about, "status": status, "output": said, "usage": response_usage(tokens) if text else None}


def _response(words: list[str], gap_s: float) -> list[tuple[float, bytes]]:
    begun = response_event("response.created", response=_response_object("in_progress", "", 0))
    first, *others = [
        response_event("response.output_text.delta", item_id="msg_0", output_index=0, content_index=0, delta=word)
        for word in words
    ]
    whole = "".join(words)
    end = response_event("response.output_text.done", item_id="msg_0", output_index=0, content_index=0, text=whole)
    end += response_event("response.completed", response=_response_object("completed", whole, len(words)))
    return _space_out(begun + first, others, end + STREAM_END, gap_s)


def _pace(events: Iterable[bytes], tokens: int, gap_s: float) -> list[tuple[float, bytes]]:
    first, *others = events
    return _space_out(first, others, usage_event(tokens) + DONE + STREAM_END, gap_s)


def _space_out(first: bytes, others: list[bytes], end: bytes, gap_s: float) -> list[tuple[float, bytes]]:
    """Events of a stream in one piece, or each in its own after `gap_s`, the end with the last of them."""
    if not gap_s:
        return [(0.0, STREAM_HEAD + first + b"".join(others) + end)]
    pieces = [(gap_s, STREAM_HEAD + first), *((gap_s, other) for other in others)]
    return [*pieces[:-1], (gap_s, pieces[-1][1] + end)]


def _whole(path: str, document: object) -> ScriptedReply:
    return ScriptedReply([(0.0, answer("200 OK", json.dumps(document).encode()))], path=path)
