"""Reading the pages of a web archive (ISO 28500), whole or by byte ranges.

In a compressed archive every record is a gzip member of its own, so a reader can start at any member. A range
[start, end) means the records whose first byte lies in it: it begins at the first member at or after `start` that
opens with a WARC header, which is what the Common Crawl index relies on too. Uncompressed archives have no such marks
and are read whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from assay.errors import DataError
from assay.stages.text.http_body import unpack

_MEMBER = b"\x1f\x8b\x08"
_PAGES = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class Response:
    """A page as a server sent it, its transfer undone."""

    url: str
    warc_id: str
    charset: str | None
    body: bytes


def pages(stream: BinaryIO, name: str, start: int = 0, end: int | None = None) -> Iterator[Response]:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    if start:
        begin = member_at(stream, start)
        if begin is None:
            return
        start = begin
    stream.seek(start)
    at = start
    try:
        # fastwarc 1.1 loses its place in the archive when told to decode bodies itself: `unpack` does that.
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, strict_mode=False):
            at = record.stream_pos
            if end is not None and at >= end:
                return
            head = record.http_headers
            if head is None or head.status_code != 200 or record.http_content_type not in _PAGES:
                continue
            size = record.content_length
            body = record.reader.read()
            if len(body) < size:
                raise DataError(f"{name}: the record at byte {at} is cut short; fetch the file again")
            body = unpack(body, head.get("Transfer-Encoding"), head.get("Content-Encoding"))
            if body:
                url = record.headers.get("WARC-Target-URI") or ""
                yield Response(url, (record.record_id or "").strip("<>"), record.http_charset, body)
    except OSError as error:
        raise DataError(f"{name}: no WARC record after byte {at} ({error}); is this a WARC file?") from None
    if _cut_after(stream, at):
        raise DataError(f"{name}: the file ends in the middle of a record; fetch it again")


def _cut_after(stream: BinaryIO, at: int) -> bool:
    """Whether the archive is cut off after the last page: fastwarc takes the end of a file for the end of a record, so
    the members that follow are looked at."""
    stream.seek(at)
    rest = stream.read(1 << 20)
    if not rest.startswith(_MEMBER):
        return False
    member = zlib.decompressobj(31)
    while rest:
        member.decompress(rest)
        rest = member.unused_data or stream.read(1 << 20)
        if member.eof and rest:
            member = zlib.decompressobj(31)
    return not member.eof


def member_at(stream: BinaryIO, offset: int, step: int = 1 << 18) -> int | None:
    """Where the first record at or after `offset` begins."""
    stream.seek(offset)
    window = b""
    base = offset
    while True:
        more = stream.read(step)
        window += more
        found = window.find(_MEMBER)
        while found >= 0 and (len(window) - found > 512 or not more):
            if _opens_record(window[found : found + 512]):
                return base + found
            found = window.find(_MEMBER, found + 1)
        if not more:
            return None
        keep = found if found >= 0 else max(len(window) - 2, 0)
        window, base = window[keep:], base + keep


def _opens_record(head: bytes) -> bool:
    try:
        return zlib.decompressobj(31).decompress(head, 5) == b"WARC/"
    except zlib.error:
        return False
