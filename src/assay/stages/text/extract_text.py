from __future__ import annotations

from assay.errors import MissingExtra
from assay.pipeline import ColumnBatch, Stage, Worker
from assay.stages.text.document_rows import ColumnRows

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def decode_page(body: bytes, charset: str | None) -> str:
    """The page as text. Encodings are tried in the order of the HTML standard: byte order mark, HTTP header, `<meta>`,
    then what the bytes look like."""
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5

    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "ignore")
    known = map_encoding_to_html5(charset, False) if charset else None
    return str(bytes_to_str(body, known or detect_encoding(body, from_html_meta=True)))


def main_text(html: str) -> str:
    """What a reader came for: without navigation, side bars, footers, scripts."""
    from resiliparse.extract.html2text import extract_plain_text

    return str(extract_plain_text(html, main_content=True, links=False))


def require_extractor() -> None:
    """Everything that extraction imports, so that a missing part is named before any work and not timed as work."""
    try:
        import fastwarc
        import resiliparse.extract.html2text
        import resiliparse.parse.encoding
    except ImportError:
        raise MissingExtra("the reader of web archives (fastwarc, resiliparse)", "text") from None
    del fastwarc, resiliparse


class ExtractText(Stage[ColumnBatch, ColumnRows]):
    """HTML in, its text out; pages without any are dropped."""

    name = "html_extraction"
    needs = frozenset({"url", "warc_id", "charset", "body"})
    adds = frozenset({"text"})

    def setup(self, worker: Worker) -> None:
        require_extractor()

    def process(self, data: ColumnBatch) -> ColumnRows:
        kept: dict[str, list[str]] = {"url": [], "warc_id": [], "text": []}
        for url, warc_id, charset, body in zip(
            *(data[name] for name in ("url", "warc_id", "charset", "body")), strict=True
        ):
            text = main_text(decode_page(body, charset))
            if text:
                kept["url"].append(url)
                kept["warc_id"].append(warc_id)
                kept["text"].append(text)
        return ColumnRows(kept)


class DetectLanguage(Stage[ColumnRows, ColumnRows]):
    """Adds `language`. Costs about as much as the extraction itself, so it is asked for."""

    name = "language_detection"
    needs = frozenset({"text"})
    adds = frozenset({"language"})

    def process(self, data: ColumnRows) -> ColumnRows:
        from resiliparse.parse.lang import detect_fast

        # The first thousand characters tell; the detector compares with every language it knows in any case.
        languages = [detect_fast(text[:1000])[0] for text in data.column("text")]
        return data.with_column("language", languages)
