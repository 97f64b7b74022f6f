"""Reading the pages of a web archive (ISO 28500), whole or by byte ranges.

In a compressed archive every record is a gzip member of its own, so a reader can start at any member. A range
[start, end) means the records whose first byte lies in it: it begins at the first member at or after `start` that
opens with a WARC header, which is what the Common Crawl index relies on too. Uncompressed archives have no such marks
and are read whole.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from assay.errors import DataError, UsageError
from assay.pipeline import ColumnBatch, FileRange, Source, Split

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


SUFFIXES = (".warc.gz", ".warc", ".warc.zst")
RANGE = 32 << 20
PAGES = 64


_ELSEWHERE = "--url_limit N downloads the first N of a crawl, `assay data warc` makes archives to try with"


def archives_in(place: Path) -> list[Path]:
    """Archives below a folder, in the order of their paths. A file is itself, whatever its name."""
    if place.is_file():
        return [place]
    return [file for file in sorted(place.rglob("*")) if file.name.endswith(SUFFIXES) and file.is_file()]


class WarcSource(Source):
    """Pages of web archives, by byte ranges of the compressed files."""

    name = "warc_reader"
    provides = frozenset({"url", "warc_id", "charset", "body"})

    def __init__(
        self, folder: str, limit: int | None = None, largest_range: int = RANGE, names: Sequence[str] | None = None
    ) -> None:
        """`names`: only these files of the folder."""
        if limit is not None and limit < 1:
            raise UsageError(f"--url_limit: {limit} is not a number of archives")
        self.folder = folder
        self.limit = limit
        self.largest_range = largest_range
        self.names = names

    def describe(self) -> Sequence[str]:
        return ("file_partitioning", self.name)

    def splits(self) -> Sequence[Split]:
        pieces = [piece for file in self._files() for piece in self._pieces(file)]
        return [Split(index, (piece,)) for index, piece in enumerate(pieces)]

    def read(self, split: Split) -> Iterator[ColumnBatch]:
        for piece in split.ranges:
            try:
                with open(piece.path, "rb") as stream:
                    held = []
                    for page in pages(stream, piece.path, piece.start, piece.end):
                        held.append(page)
                        if len(held) == PAGES:
                            yield _batch(held)
                            held = []
                    if held:
                        yield _batch(held)
            except OSError as error:
                raise DataError(f"{piece.path}: cannot be read: {error}") from None

    def _files(self) -> list[Path]:
        folder = Path(self.folder)
        if folder.is_file():
            return [folder]
        if not folder.is_dir():
            raise DataError(f"{self.folder}: no such folder; {_ELSEWHERE}")
        files = archives_in(folder)
        if not files:
            looked = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
            raise DataError(f"{self.folder}: no web archive there (looked for {looked}); {_ELSEWHERE}")
        return [file for file in files if self.names is None or file.name in self.names][: self.limit]

    def _pieces(self, file: Path) -> list[FileRange]:
        size = file.stat().st_size
        if not file.name.endswith(".gz") or size <= self.largest_range:
            return [FileRange(str(file))]
        count = -(-size // self.largest_range)
        edges: list[int | None] = [size * piece // count for piece in range(count)]
        return [FileRange(str(file), start or 0, end) for start, end in zip(edges, [*edges[1:], None], strict=True)]


def _batch(held: Sequence[Response]) -> ColumnBatch:
    names = ("url", "warc_id", "charset", "body")
    return ColumnBatch({name: [getattr(page, name) for page in held] for name in names})
