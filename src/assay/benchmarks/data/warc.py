from __future__ import annotations

import gzip
import json
import uuid
import zlib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from random import Random

from assay.benchmarks.data.prose import LANGUAGES, Language, Prose
from assay.errors import UsageError

DECLARED = ("header", "meta", "both", "nowhere")
_SCRIPT = "window.dataLayer=window.dataLayer||[];function track(a,b){{dataLayer.push([a,b,{}])}}track('page','view');"
_STYLE = ".hero-{0}{{display:flex;margin:0 auto;max-width:{0}px}}.nav a{{color:#{0:06x};padding:.5em}}"


@dataclass(frozen=True)
class HtmlPage:
    """An HTML page and what a reader of it should find."""

    url: str
    language: str
    encoding: str
    declared: str
    title: str
    paragraphs: tuple[str, ...]
    body: bytes
    """The page in its encoding."""

    @property
    def content_type(self) -> str:
        return f"text/html; charset={self.encoding}" if self.declared in ("header", "both") else "text/html"


def make_page(rng: Random, number: int) -> HtmlPage:
    language = rng.choice(LANGUAGES)
    encoding = rng.choice(language.encodings)
    # Detection without any declaration is guesswork for the small encodings; a real page without one is UTF-8.
    declared = rng.choice(DECLARED) if encoding == "utf-8" else rng.choice(DECLARED[:3])
    prose = Prose(language, rng)
    host = f"{prose.name().lower()}-{prose.name().lower()}.example"
    title = " ".join((prose.name(), *prose.words(4)))
    paragraphs = tuple(_in_encoding(text, encoding) for text in prose.document(rng.randint(3, 14)))
    title = _in_encoding(title, encoding)
    html = _markup(rng, prose, language, encoding, declared, title, paragraphs)
    body = html.encode(encoding, "xmlcharrefreplace")
    url = f"https://www.{host}/{prose.name().lower()}/{number}"
    return HtmlPage(url, language.code, encoding, declared, title, paragraphs, body)


def _in_encoding(text: str, encoding: str) -> str:
    return text.encode(encoding, "ignore").decode(encoding)


def _markup(
    rng: Random, prose: Prose, language: Language, encoding: str, declared: str, title: str, paragraphs: tuple[str, ...]
) -> str:
    meta = f'<meta charset="{encoding}">' if declared in ("meta", "both") else ""
    links = "".join(f'<li><a href="/{prose.name().lower()}">{escape(prose.name())}</a></li>' for _ in range(6))
    teasers = "".join(
        f'<div class="teaser card"><a href="/a/{rng.randrange(10**6)}"><img src="/i/{n}.jpg" alt="">'
        f"<span>{escape(prose.name())}</span></a></div>"
        for n in range(rng.randint(2, 8))
    )
    text = "\n".join(f"<p>{_inline(rng, paragraph)}</p>" for paragraph in paragraphs)
    return (
        f'<!DOCTYPE html>\n<html lang="{language.code}"><head>{meta}<title>{escape(title)}</title>\n'
        f"<style>{_STYLE.format(rng.randint(300, 1200))}</style>\n"
        f"<script>{_SCRIPT.format(rng.randrange(10**9))}</script></head>\n"
        f'<body><header class="site-header"><nav class="nav"><ul>{links}</ul></nav></header>\n'
        f'<main><article class="post"><h1>{escape(title)}</h1>\n{text}\n</article></main>\n'
        f'<aside class="sidebar">{teasers}</aside>\n'
        f'<footer class="footer"><p>&copy; {rng.randint(1999, 2026)} {escape(prose.name())}</p>'
        f"<script>{_SCRIPT.format(rng.randrange(10**9))}</script></footer></body></html>\n"
    )


def _inline(rng: Random, paragraph: str) -> str:
    """Mark-up inside the text, which an extractor must take away without tearing words apart."""
    words = [escape(word, quote=False) for word in paragraph.split(" ")]
    if len(words) > 8:
        at = rng.randrange(len(words) - 3)
        words[at] = f"<b>{words[at]}</b>"
        words[at + 2] = f'<a href="/ref/{rng.randrange(999)}">{words[at + 2]}</a>'
    return " ".join(words)


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


def arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("output", type=Path, help="folder for the archives")
    add("--files", type=int, default=2, help="default: 2")
    add("--pages", type=int, default=1000, help="pages in each (default: 1000, about 2.4 MB)")


def generate(args: Namespace) -> int:
    if args.files < 1 or args.pages < 1:
        raise UsageError("assay data warc: --files and --pages are 1 or more")
    written = write_warc_files(args.output, args.files, args.pages, args.seed)
    size = sum(path.stat().st_size for path in written)
    made = f"{len(written)} archives, {args.files * args.pages} pages, {size / 1e6:.1f} MB"
    print(f"{args.output}: {made}; {TRUTH} says what they hold")
    return 0
