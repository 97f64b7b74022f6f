"""HTTP/1.1 responses: the compiled reader and the plain one say the same of the same bytes, however they are cut."""

from __future__ import annotations

import random

import pytest
from tests.loadgen.http.compiled_reader import CompiledReader

from assay.loadgen.http.response_reader import LONGEST_LINE, ResponseReader, State

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
GOOD = {
    "length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, b"hello", True),
    "empty": (b"HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", 200, b"", True),
    "chunked": (CHUNKED + b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: x\r\n\r\n", 200, b"hello world", True),
    "large digits": (CHUNKED + b"00000A\r\n0123456789\r\n0\r\n\r\n", 200, b"0123456789", True),
    "bare newlines": (b"HTTP/1.1 404 Not Found\nContent-Length: 2\n\nno", 404, b"no", True),
    "continue": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx", 201, b"x", True),
    "close": (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 200, b"x", False),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, b"x", False),
    "old, kept": (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", 200, b"x", True),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", True),
    "both framings": (CHUNKED[:-2] + b"Content-Length: 9\r\n\r\n1\r\nx\r\n0\r\n\r\n", 200, b"x", True),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", 200, b"x", True),
}
BAD = {
    "not HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "HTTP/2": b"HTTP/2.0 200 OK\r\n\r\n",
    "status of letters": b"HTTP/1.1 2x0 OK\r\n",
    "status too small": b"HTTP/1.1 099 OK\r\n",
    "switching": b"HTTP/1.1 101 Switching Protocols\r\n",
    "header without colon": b"HTTP/1.1 200 OK\r\nhello\r\n",
    "space before colon": b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n",
    "folded header": b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n",
    "NUL": b"HTTP/1.1 200 OK\r\nA: \0\r\n",
    "CR alone": b"HTTP/1.1 200 OK\r\nA: b\rc\r\n",
    "length of letters": b"HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
    "huge length": b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
    "compressed": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n",
    "chunk of letters": CHUNKED + b"xyz\r\n",
    "chunk too large": CHUNKED + b"fffffffffffffffff\r\n",
    "empty chunk size": CHUNKED + b"\r\n",
    "chunk too short": CHUNKED + b"2\r\nabc\r\n",
    "endless line": b"HTTP/1.1 200 " + b"x" * (LONGEST_LINE + 10),
    "endless head": b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000,
}


def both() -> tuple[ResponseReader, CompiledReader]:
    return ResponseReader(), CompiledReader()


@pytest.mark.parametrize("case", GOOD)
def test_a_response_is_read_however_it_is_cut(case: str) -> None:
    data, status, body, kept = GOOD[case]
    for reader in both():
        assert reader.feed(data + b"more") == len(data)
        assert (reader.state, reader.status, bytes(reader.body), reader.keep_alive) == (State.DONE, status, body, kept)
    for cut in range(1, len(data)):
        for reader in both():
            reader.feed(data[:cut])
            assert reader.state < State.DONE
            assert reader.feed(data[cut:]) == len(data) - cut
            assert (reader.state, reader.status, bytes(reader.body)) == (State.DONE, status, body)


@pytest.mark.parametrize("case", BAD)
def test_what_is_not_a_response_is_refused_by_both(case: str) -> None:
    for step in (1, 7, 1 << 20):
        for reader in both():
            for at in range(0, len(BAD[case]), step):
                reader.feed(BAD[case][at : at + step])
            assert reader.state == State.MALFORMED, f"{type(reader).__name__}, {step} bytes at a time"


def test_the_end_of_the_connection_ends_a_body_without_length() -> None:
    for reader in both():
        reader.feed(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
        reader.feed_end()
        assert (reader.state, bytes(reader.body), reader.keep_alive) == (State.DONE, b"until the end", False)
    for reader in both():
        reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
        reader.feed_end()
        assert reader.state == State.LENGTH_BODY


def test_the_answer_to_head_has_no_body() -> None:
    for reader in (ResponseReader(no_body=True), CompiledReader(no_body=True)):
        reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        assert reader.state == State.DONE


def test_both_readers_agree_on_damaged_bytes() -> None:
    rng = random.Random(11)
    samples = [data for data, *_ in GOOD.values()] + [data[:2000] for data in BAD.values()]
    seen = set()
    for _ in range(3000):
        data = bytearray(rng.choice(samples))
        for _ in range(rng.randrange(4)):
            data[rng.randrange(len(data))] = rng.choice(b"\r\n :;,0129afAF\0\xffHTTPx")
        plain, compiled = both()
        at = 0
        while at < len(data):
            piece = bytes(data[at : at + rng.randrange(1, 40)])
            assert plain.feed(piece) == compiled.feed(piece) or plain.state == State.MALFORMED
            at += len(piece)
        said = (plain.state, plain.status, bytes(plain.body), plain.keep_alive, plain.event_stream)
        assert said == (compiled.state, compiled.status, compiled.body, compiled.keep_alive, compiled.event_stream), (
            data
        )
        seen.add(plain.state)
    assert {State.DONE, State.MALFORMED, State.LENGTH_BODY} <= seen
