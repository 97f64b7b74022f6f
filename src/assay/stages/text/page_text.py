from __future__ import annotations

from assay.errors import MissingExtra

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
