"""JSON of others: refused by size and shape before the parser sees it, so that none of its own limits can surprise.

Refused: nesting deeper than `DEEPEST`, digits in a row beyond `MOST_DIGITS`, a key that stands twice in an object,
bytes that are not UTF-8. Half of a surrogate pair, which no UTF-8 file could hold again, becomes U+FFFD. `NaN` and
`Infinity` are read, since programs write them.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from assay.files.reading import ReadLimit, Unreadable, read_bytes, storable
from assay.names import quote

DEEPEST = 100
OWN_DEEPEST = 120
MOST_DIGITS = 4300

_DIGITS = b"0123456789"
_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class BrokenJson(Unreadable):
    """Where the parser gave up, for who names a place as file:line:column."""

    def __init__(self, where: Path | str, error: json.JSONDecodeError) -> None:
        self.place = f"{error.lineno}:{error.colno}: {error.msg}"
        super().__init__(where, f"is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}")


Made = Callable[[dict[str, Any]], Any]


def read_json(path: Path, limit: ReadLimit, made: Made | None = None, *, own: bool = False) -> Any:
    return parse_json(read_bytes(path, limit), path, made, own=own)


def parse_json(data: bytes, where: Path | str, made: Made | None = None, *, own: bool = False) -> Any:
    """`made` turns each object into what it stands for. `own` is what Assay wrote around what others did: it may be
    nested a little deeper, and of equal keys the last counts."""
    data, text = _decode(data, where)
    _check_shape(data, where, OWN_DEEPEST if own else DEEPEST)
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPE.sub(lambda escape: "\\ufffd" if escape["half"] else escape[0], text)
    try:
        if own:
            return json.loads(text, object_hook=made)
        return json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, where, made))
    except json.JSONDecodeError as error:
        raise BrokenJson(where, error) from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(where, f"cannot be read as JSON: {error}") from None


def _decode(data: bytes, where: Path | str) -> tuple[bytes, str]:
    """The data as UTF-8 bytes and as text; JSON may come in UTF-16 and UTF-32, too, and with a byte order mark."""
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-sig").upper()
        raise Unreadable(where, f"is not valid {name}: {error.reason} at byte {error.start}") from None
    return data if encoding.startswith("utf-8") else text.encode(), text


def _check_shape(data: bytes, where: Path | str, deepest: int) -> None:
    """A few passes, before anything recurses. Lines are counted outside strings, which can have none in them."""
    if data.count(b"[") + data.count(b"{") <= deepest and _long_number(data) is None:
        return
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    outside = b'"'.join(data.split(b'"')[::2])
    number = _long_number(outside)
    if number is not None:
        line = outside.count(b"\n", 0, number) + 1
        raise Unreadable(where, f"has a number of more than {MOST_DIGITS} digits in line {line}")
    brackets = outside.translate(None, _BRACKETS)
    if max(_depths(brackets), default=0) > deepest:
        deep = next(number for number, depth in enumerate(_depths(brackets)) if depth > deepest)
        bracket = next(islice(re.finditer(rb"[][{}]", outside), deep, None))
        line = outside.count(b"\n", 0, bracket.start()) + 1
        raise Unreadable(where, f"is nested deeper than {deepest} levels in line {line}")


def _depths(brackets: bytes) -> Iterator[int]:
    return accumulate(map(_STEP.__getitem__, brackets))


def _long_number(data: bytes) -> int | None:
    """Place of a number with too many digits. It looks only at places as far apart as the limit: a longer row of digits
    covers one of them."""
    for at in range(MOST_DIGITS, len(data), MOST_DIGITS + 1):
        before, after = data[at - MOST_DIGITS : at], data[at : at + MOST_DIGITS + 1]
        left, right = len(before) - len(before.rstrip(_DIGITS)), len(after) - len(after.lstrip(_DIGITS))
        if right and left + right > MOST_DIGITS:
            return at - left
    return None


def _object(pairs: list[tuple[str, Any]], where: Path | str, made: Made | None) -> Any:
    written = dict(pairs)
    if len(written) < len(pairs):
        double = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise Unreadable(where, f"has the key {quote(double)} twice in one object")
    return written if made is None else made(written)


# JSON that every reader accepts: NaN and infinities, which JSON has no words for, become `{"$float": "nan"}`.
#
# Halves of surrogate pairs, which no file can hold, become U+FFFD: they come from paths and arguments that are no
# UTF-8.

_TAG = "$float"


def encode(value: Any, indent: int | None = None) -> str:
    return storable(json.dumps(_tag(value), indent=indent, ensure_ascii=False, allow_nan=False, default=_plain))


def decode(text: str | bytes) -> Any:
    """Decodes what nobody else could have changed; a file is read by `files.json_text`, with `untag`."""
    return json.loads(text, object_hook=untag)


def _tag(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else {_TAG: repr(value)}
    if isinstance(value, dict):
        return {str(key): _tag(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tag(item) for item in value]
    return value


def untag(value: dict[str, Any]) -> Any:
    if len(value) == 1 and value.get(_TAG) in ("nan", "inf", "-inf"):
        return float(value[_TAG])
    return value


def _plain(value: Any) -> Any:
    """What programs put into results without thinking of JSON: numpy scalars, paths, sets."""
    item = getattr(value, "item", None)
    if callable(item):
        return item()
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return str(value)


_GAP = " … "


def shorten(text: str, most: int) -> str:
    """The text in at most `most` characters: one that is too long loses its middle, between words where that costs
    little.

    A message begins with what happened and often ends with what it happened to: a file, a value.
    """
    if len(text) <= most:
        return text
    head = text[: (most - len(_GAP)) * 2 // 3]
    tail = text[len(text) - (most - len(_GAP) - len(head)) :]
    return _to_last_word(head) + _GAP + _to_last_word(tail[::-1])[::-1]


def _to_last_word(text: str) -> str:
    """The text without the piece of a word at its end, unless that is a long one, such as a path."""
    words = text.rstrip()
    cut = words.rfind(" ")
    return words[:cut].rstrip() if cut > len(words) // 2 else words
