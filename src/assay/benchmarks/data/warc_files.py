from __future__ import annotations

import gzip
import json
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from assay.benchmarks.data.html_page import HtmlPage, make_page

DATE = "2026-01-15T06:00:00Z"
TRUTH = "truth.jsonl"


def write_warc_files(folder: Path, files: int, pages: int, seed: int) -> list[Path]:
    """Archives as a crawler leaves them, a gzip member a record, and `truth.jsonl` with what each page says.

    Among the pages stand what an extractor has to pass over or undo: requests, redirects, missing pages, images,
    empty bodies, chunked and compressed transfers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    with (folder / TRUTH).open("w", encoding="utf-8") as truth:
        for number in range(files):
            rng = Random(f"warc {seed} {number}")
            path = folder / f"crawl-{number:05d}.warc.gz"
            with path.open("wb") as out:
                for record, page in _records(rng, path.name, pages):
                    # A fixed time keeps the file the same, byte for byte, for the same seed.
                    out.write(gzip.compress(record, compresslevel=6, mtime=0))
                    if page is not None:
                        truth.write(json.dumps(_truth(path.name, page), ensure_ascii=False) + "\n")
            written.append(path)
    return written


def _records(rng: Random, filename: str, pages: int) -> Iterator[tuple[bytes, HtmlPage | None]]:
    info = f"software: assay data\r\nformat: WARC File Format 1.0\r\nfilename: {filename}\r\n".encode()
    yield _record(rng, "warcinfo", None, "application/warc-fields", info), None
    for number in range(pages):
        page = make_page(rng, number)
        request = f"GET / HTTP/1.1\r\nHost: {page.url.split('/')[2]}\r\n\r\n".encode()
        yield _record(rng, "request", page.url, "application/http; msgtype=request", request), None
        yield _response(rng, page.url, _http(rng, page)), page
        if rng.random() < 0.15:
            yield _response(rng, page.url + "?odd", _odd_answer(rng, page)), None


def _response(rng: Random, url: str, http: bytes) -> bytes:
    return _record(rng, "response", url, "application/http; msgtype=response", http)


def _record(rng: Random, kind: str, url: str | None, content_type: str, block: bytes) -> bytes:
    head = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Date: {DATE}",
        f"WARC-Record-ID: <urn:uuid:{uuid.UUID(int=rng.getrandbits(128), version=4)}>",
        f"Content-Length: {len(block)}",
        f"Content-Type: {content_type}",
    ]
    if url is not None:
        head.append(f"WARC-Target-URI: {url}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def _http(rng: Random, page: HtmlPage) -> bytes:
    """Most crawlers store what they decoded; some store the transfer as it came."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {page.content_type}\r\n"
    body = page.body
    roll = rng.random()
    if roll < 0.1:
        body = gzip.compress(body, mtime=0)
        head += "Content-Encoding: gzip\r\n"
    elif roll < 0.13:
        body = zlib.compress(body)
        head += "Content-Encoding: deflate\r\n"
    if rng.random() < 0.2:
        cut = rng.randrange(1, len(body))
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:cut], body[cut:])) + b"0\r\n\r\n"
        head += "Transfer-Encoding: chunked\r\n"
    else:
        head += f"Content-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def _odd_answer(rng: Random, page: HtmlPage) -> bytes:
    return rng.choice(
        (
            b"HTTP/1.1 301 Moved Permanently\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<html><body><h1>Not found</h1></body></html>",
            b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n" + rng.randbytes(400),
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + json.dumps({"title": page.title}).encode(),
        )
    )


def _truth(filename: str, page: HtmlPage) -> dict[str, object]:
    return {
        "file": filename,
        "url": page.url,
        "language": page.language,
        "encoding": page.encoding,
        "declared": page.declared,
        "title": page.title,
        "paragraphs": page.paragraphs,
    }
