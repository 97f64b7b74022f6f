from __future__ import annotations

import io
import zlib

LIMIT = 64 << 20
"""No page is larger than this once unpacked: an archive is not trusted, and a few bytes can hold gigabytes."""


def unpack(body: bytes, transfer_encoding: str | None, content_encoding: str | None) -> bytes:
    """The page as its author wrote it.

    Crawlers differ in whether they store the transfer or the page, and often keep the headers of the former beside
    the latter. So a header is believed only where the bytes agree with it.
    """
    if transfer_encoding and "chunked" in transfer_encoding.lower():
        body = _dechunk(body)
    for coding in reversed((content_encoding or "").lower().split(",")):
        body = _decompress(body, coding.strip())
    return body


def _dechunk(body: bytes) -> bytes:
    parts: list[bytes] = []
    at = 0
    while True:
        line_end = body.find(b"\r\n", at, at + 32)
        if line_end < 0:
            return body
        try:
            size = int(body[at:line_end].split(b";")[0], 16)
        except ValueError:
            return body
        at = line_end + 2
        if size == 0:
            return b"".join(parts)
        parts.append(body[at : at + size])
        if body[at + size : at + size + 2] != b"\r\n":
            # Cut off in transit: what arrived is the page.
            return b"".join(parts) if len(parts) > 1 else body
        at += size + 2


def _decompress(body: bytes, coding: str) -> bytes:
    try:
        if coding in ("gzip", "x-gzip"):
            return zlib.decompressobj(31).decompress(body, LIMIT)
        if coding == "deflate":
            # Servers send both zlib and bare deflate under this name.
            wbits = 15 if body[:1] in (b"\x78", b"\x58", b"\x18") else -15
            return zlib.decompressobj(wbits).decompress(body, LIMIT)
        if coding == "br":
            from fastwarc.stream_io import BrotliReader

            return bytes(BrotliReader(io.BytesIO(body)).read(LIMIT))
    except (zlib.error, OSError):
        return body
    return body
