"""Server-sent events in a body (WHATWG HTML, "Server-sent events", interpreting an event stream)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE_END = re.compile(rb"\r\n|\n|\r")


def event_spans(body: bytes) -> Iterator[tuple[int, int, int]]:
    """(start of its data, end of its data, end of the event) of each event that has data.

    The last event counts though no empty line ends it: servers leave it out after `[DONE]`. Whether it is whole is
    for its JSON to say.
    """
    start, stop, at = -1, -1, 3 if body.startswith(b"\xef\xbb\xbf") else 0
    while at < len(body):
        ending = _LINE_END.search(body, at)
        line_end, after = (ending.start(), ending.end()) if ending else (len(body), len(body))
        if line_end == at:
            if start >= 0:
                yield start, stop, after
            start = -1
        elif body.startswith(b"data:", at) or body[at:line_end] == b"data":
            value = min(at + 5, line_end)
            value += body[value : value + 1] == b" " and value < line_end
            start, stop = (value if start < 0 else start), line_end
        at = after
    if start >= 0:
        yield start, stop, len(body)


def join_data(span: bytes) -> bytes:
    """Data of an event, from its span: several lines of data are one text."""
    if b"\n" not in span and b"\r" not in span:
        return span
    first, *others = _LINE_END.split(span)
    values = [line[5:].removeprefix(b" ") for line in others if line.startswith(b"data:")]
    return b"\n".join([first, *values])
