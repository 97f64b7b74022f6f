"""Answers of an HTTP/1.1 server: the compiled reader against the plain one, field by field."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

from tests.native.fuzz.target import Target

from assay.loadgen.http.response_reader import ResponseReader, State
from assay.native.library import library


class _Head(ctypes.Structure):
    """The beginning of `struct response`."""

    _fields_ = (
        ("state", ctypes.c_uint8),
        ("no_body", ctypes.c_uint8),
        ("chunked", ctypes.c_uint8),
        ("event_stream", ctypes.c_uint8),
        ("keep_alive", ctypes.c_uint8),
        ("has_length", ctypes.c_uint8),
        ("status", ctypes.c_int16),
    )


class HttpTarget(Target):
    name = "http"
    longest = 9000
    words = (
        "HTTP/1.1 200 OK\r\n", "HTTP/1.0 404 Not Found\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 204 \r\n",
        "\r\n\r\n",
        "\r\n", "\n", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "identity", "Connection: close\r\n",
        "keep-alive",
        "Content-Type: text/event-stream\r\n", 'data: {"choices": [{"delta": {"content": "a"}}]}\n\n',
        "data: [DONE]\n\n",
        "0\r\n\r\n", "5\r\nhello\r\n", "fffffffffffffff", ";ext=1", "999999999999999999", "\x00", " \t",
    )  # fmt: skip

    def seeds(self) -> Iterator[bytes]:
        event = b'data: {"choices": [{"delta": {"content": "word"}}]}\n\n'
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(event), event) for _ in range(3))
        empty = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
        yield b"\x10HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" + empty
        yield (
            b"\x06HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            + chunks
            + b"0\r\n\r\n"
        )
        yield b"\x20HTTP/1.0 500 Oops\nX: y\n\nuntil the end"
        yield b"\x01HTTP/1.1 200\r\ncontent-length: 12\r\n\r\n"
        early = b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\n"
        yield b"\x08" + early + b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc"
        yield b"\x04HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nTrailer: x\r\n\r\n"

        for length in (8190, 8191, 8192, 8193):  # of a line, its end counted
            yield b"\xffHTTP/1.1 200 OK\r\nX: " + b"x" * (length - 5) + b"\r\nContent-Length: 1\r\n\r\na"

    def difference(self, data: bytes) -> str | None:
        if not data:
            return None
        no_body, receipt, data = data[0] & 1, (data[0] >> 1) + 2, data[1:]
        while data:
            plain, taken = _plain(data, no_body, receipt)
            compiled = _compiled(data, no_body, receipt)
            if compiled != (taken, plain):
                return f"of {data!r} compiled takes {compiled}, plain {(taken, plain)}"
            if plain["state"] != State.DONE or not taken:
                break
            data = data[taken:]
        return None


def _plain(data: bytes, no_body: int, receipt: int) -> tuple[dict[str, Any], int]:
    reader = ResponseReader(bool(no_body))
    taken = 0
    while taken < len(data) and reader.state < State.DONE:
        taken += reader.feed(data[taken : taken + receipt])
    reader.feed_end()
    fields = {name: int(getattr(reader, name)) for name in ("state", "status", "chunked", "event_stream", "keep_alive")}
    return {**fields, "body": bytes(reader.body)}, taken


def _compiled(data: bytes, no_body: int, receipt: int) -> tuple[int, dict[str, Any]]:
    loaded = library()
    assert loaded is not None
    loaded.response_size.restype = loaded.response_feed.restype = ctypes.c_size_t
    response = ctypes.create_string_buffer(loaded.response_size())
    body, body_bytes, taken = ctypes.create_string_buffer(len(data) + 1), ctypes.c_size_t(), 0
    head = _Head.from_buffer(response)
    loaded.response_begin(response, no_body)
    while taken < len(data) and head.state < State.DONE:
        piece = data[taken : taken + receipt]
        taken += loaded.response_feed(response, piece, ctypes.c_size_t(len(piece)), body, ctypes.byref(body_bytes))
    loaded.response_closed(response)
    fields = {name: int(getattr(head, name)) for name in ("state", "status", "chunked", "event_stream", "keep_alive")}
    return taken, {**fields, "body": body.raw[: body_bytes.value]}


TARGET = HttpTarget()
