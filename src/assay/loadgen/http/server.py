"""Answers as an OpenAI-compatible server gives them, ready to be sent."""

from __future__ import annotations

import argparse
import ctypes
import json
import mmap
import os
import signal
import socket
from collections.abc import Iterable, Sequence
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass
from enum import IntEnum
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayError
from assay.loadgen.sender import end_with_parent, precise_timers
from assay.native.library import declare, library

_WAITING_CONNECTIONS = 4096
SENT = np.dtype([("request", "<i8"), ("piece", "<i8"), ("ns", "<i8")])
"""One line of the server's log: when it sent which piece of the answer to which request; piece -1: the request came."""


class ConnectionEnding(IntEnum):
    """What happens to the connection after the last piece."""

    KEEP = 0
    CLOSE = 1
    RESET = 2


@dataclass(frozen=True)
class ScriptedReply:
    """An answer: pieces of bytes, each with a delay in seconds after the one before it."""

    pieces: Sequence[tuple[float, bytes]]
    ending: ConnectionEnding = ConnectionEnding.KEEP
    path: str = "/"
    """Part of the path of requests that get this answer."""
    streamed: bool | None = None
    """True, False: only for requests that ask for a stream, or that do not."""


class _Piece(Structure):
    _fields_ = (("bytes", c_char_p), ("count", c_int64), ("delay_ns", c_int64))


class _Reply(Structure):
    _fields_ = (
        ("path", c_char_p),
        ("streamed", c_int64),
        ("pieces", POINTER(_Piece)),
        ("count", c_int64),
        ("ending", c_int64),
    )


class _Settings(Structure):
    _fields_ = (
        ("listener", c_int64),
        ("replies", POINTER(_Reply)),
        ("reply_count", c_int64),
        ("in_turn", c_int64),
        ("log", c_void_p),
        ("log_room", c_int64),
        ("logged", c_void_p),
        ("stop", c_void_p),
    )


class ScriptedServer:
    """A server in a process of its own, on loopback, for as long as the `with` block lasts.

    `in_turn`: request N (of `request=N` in its path, or the Nth that comes) gets reply N modulo their count.
    Otherwise a request gets the first reply that fits its path. `log_room`: lines of the log that are kept.
    """

    def __init__(
        self, replies: Sequence[ScriptedReply], in_turn: bool = False, log_room: int = 0, port: int = 0
    ) -> None:
        loaded = library()
        if loaded is None:
            raise AssayError("the null server is compiled, and Assay was installed without a C compiler")
        declare(loaded, {"http_serve": (c_int, (POINTER(_Settings),))})
        self._library = loaded
        self._shared = mmap.mmap(-1, mmap.PAGESIZE + max(log_room, 1) * SENT.itemsize)
        self._words = np.frombuffer(self._shared, np.int64, 2)
        self._log: NDArray[np.void] = np.frombuffer(self._shared, SENT, max(log_room, 1), mmap.PAGESIZE)
        self._replies, self._in_turn, self._log_room = replies, in_turn, log_room
        self._listener = socket.create_server(("127.0.0.1", port), backlog=_WAITING_CONNECTIONS)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.pid = 0

    def log(self) -> NDArray[np.void]:
        """What was sent so far, in the order of sending."""
        return self._log[: int(self._words[1])].copy()

    def serve(self) -> None:
        """Serve in this process until it is ended."""
        precise_timers()
        settings = self._settings()
        self._library.http_serve(ctypes.byref(settings))

    def start(self) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                end_with_parent()
                self.serve()
            finally:
                os._exit(0)
        self._listener.close()

    def stop(self) -> None:
        """End the server; CPU seconds that it took are in `cpu_s` then."""
        if self.pid:
            self._words[0] = 1
            _, _, usage = os.wait4(self.pid, 0)
            self.cpu_s = usage.ru_utime + usage.ru_stime
            self.pid = 0
        self._listener.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def _settings(self) -> _Settings:
        kept: list[Any] = []
        for reply in self._replies:
            pieces = [_Piece(data, len(data), int(delay * 1e9)) for delay, data in reply.pieces]
            streamed = -1 if reply.streamed is None else int(reply.streamed)
            array = (_Piece * len(pieces))(*pieces)
            kept.append(_Reply(reply.path.encode(), streamed, array, len(pieces), reply.ending))
        words = int(self._words.ctypes.data)
        return _Settings(
            listener=self._listener.fileno(),
            replies=(_Reply * len(kept))(*kept),
            reply_count=len(kept),
            in_turn=self._in_turn,
            log=int(self._log.ctypes.data) if self._log_room else None,
            log_room=self._log_room,
            logged=words + 8,
            stop=words,
        )


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


# The null server by itself: python -m assay.loadgen.http.server --tokens 32 --gap-ms 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m assay.loadgen.http.server", description=__doc__)
    parser.add_argument("--tokens", type=int, default=32, help="tokens of an answer (default: 32)")
    parser.add_argument("--gap-ms", type=float, default=0.0, help="time between two tokens (default: all at once)")
    parser.add_argument("--port", type=int, default=0, help="port on loopback (default: any free one)")
    args = parser.parse_args()
    server = ScriptedServer(null_replies(args.tokens, args.gap_ms / 1e3), port=args.port)
    print(server.url, flush=True)
    server.serve()


if __name__ == "__main__":
    main()
