"""Text from web archives by a plain loop over fastwarc and resiliparse; imports no Assay."""

import io
import sys
import zlib
from pathlib import Path

import orjson
from fastwarc.stream_io import BrotliReader
from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

PAGES = ("text/html", "application/xhtml+xml")


def page(body, head):
    """What `auto_decode` is for; fastwarc 1.1 loses its place in the archive with it."""
    if head.get("Transfer-Encoding") == "chunked":
        chunks, rest = [], body
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            chunks.append(rest[: int(size, 16)])
            rest = rest[int(size, 16) + 2 :]
        body = b"".join(chunks)
    coding = head.get("Content-Encoding")
    if coding == "gzip":
        return zlib.decompress(body, 31)
    if coding == "deflate":
        return zlib.decompress(body)
    if coding == "br":
        return BrotliReader(io.BytesIO(body)).read()
    return body


def texts(folder: Path, out: Path) -> None:
    with (out / "texts.jsonl").open("wb") as written:
        for file in sorted(folder.glob("*.warc.gz")):
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream, record_types=WarcRecordType.response, strict_mode=False):
                    head = record.http_headers
                    if head is None or head.status_code != 200 or record.http_content_type not in PAGES:
                        continue
                    body = page(record.reader.read(), head)
                    if not body:
                        continue
                    charset = record.http_charset
                    known = map_encoding_to_html5(charset, False) if charset else None
                    html = bytes_to_str(body, known or detect_encoding(body, from_html_meta=True))
                    text = extract_plain_text(html, main_content=True, links=False)
                    if text:
                        row = {"url": record.headers.get("WARC-Target-URI"), "warc_id": record.record_id, "text": text}
                        written.write(orjson.dumps(row) + b"\n")


if __name__ == "__main__":
    texts(Path(sys.argv[1]), Path(sys.argv[2]))
