"""Takes secrets out of a program's output as it passes, in whatever pieces it comes.

Patterns are tried only where a byte search has found the value of a secret, the beginning of a token or the name of a
header; `re` is imported only then. The search is plain Python for a program that prints little; for one that prints
much it is the compiled library's, which looks for everything in one pass.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence
    from typing import Any, Protocol

    class _Search(Protocol):
        def find(self, data: bytes) -> "_Found": ...


_COMMON = b" etaoinsrl.0:1cdmuhgp2=_b-/3,f45y\n678kw9\"v'()[]{}EATISRNCOLDPMFUBGHVxWYK%|*<>jq#zX+&?!@;$^~`\\ZQJ"
"""Bytes of ordinary output, the commonest first."""
_BULK = 1 << 18
"""Bytes of output after which it pays to load the compiled library."""
_TOKEN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_CLASSES = bytes(120 if byte in _TOKEN_BYTES else 10 for byte in range(256))
_RUN = b"x" * 16
"""A token has at least so many letters, digits, `_` and `-` in one piece."""
_LONGEST_HELD = 1 << 14
_LONGEST_WORD = 1 << 10
_LONGEST_ADDRESS = 1 << 10
_LOOK_BACK = 16
_SHORT = 64
"""Bytes of a text whose beginnings are all kept, to be looked up at once."""
_OPENING = 64
"""Bytes that the name of a header, its signs and its scheme take: so long what follows them is waited for."""


class OutputMask:
    """What is replaced in a stream of bytes. The start of a secret at the end of a block waits for the next block."""

    def __init__(self, values: "Sequence[tuple[bytes, bytes]]", shapes: "dict[str, Any] | None" = None) -> None:
        """`values`: what is replaced and by what, longest first. `shapes`: see `ProcessSpec.shapes`."""
        shapes = shapes or {"token": b"", "address": b"", "starts": (), "marks": ()}
        self._values = list(values)
        self._marks: list[tuple[bytes, bytes]] = [(mark, pattern) for mark, pattern in shapes["marks"]]
        self._starts: tuple[bytes, ...] = tuple(shapes["starts"])
        self._token: bytes = shapes["token"]
        self._address: bytes = shapes["address"]
        self._texts = ([value for value, _ in self._values], [mark for mark, _ in self._marks], self._starts)
        self._beginnings = _Beginnings([*self._texts[0], *self._texts[1], *([b"://"] if self._address else [])])
        self._word_beginnings = {start[:size] for start in self._starts for size in range(1, len(start))}
        self._start_sizes = sorted({len(start) for start in self._starts})
        self._whole_starts = set(self._starts)
        self._search: _Search = _PlainSearch(*self._texts)
        self._left = _BULK
        self._compiled: dict[bytes, re.Pattern[bytes]] = {}
        self._before = b""
        """The last bytes that were passed on, for patterns that look back."""
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        if self._left > 0:
            self._left -= len(data)
            if self._left <= 0:
                self._search = _compiled_search(*self._texts) or self._search
        data, self._held = self._mask(self._held + data, is_end=False)
        return data

    def end(self) -> bytes:
        """What was held back, when no more comes."""
        data, self._held = self._mask(self._held, is_end=True)
        return data

    def _mask(self, data: bytes, is_end: bool) -> tuple[bytes, bytes]:
        """The data without secrets, and the part at its end that waits for more."""
        begin = len(self._before)
        data = self._before + data
        closed = len(data) if is_end else max(begin, len(data) - self._beginnings.length(data))
        found = self._search.find(data)
        if found.values:
            for number in sorted(found.values):
                data, closed = _replace(data, *self._values[number], begin, closed)
            found = self._search.find(data)
        places: list[tuple[int, int]] = []
        for start, end, is_open in self._shapes(data, found):
            if is_open and not is_end and len(data) - start <= _LONGEST_HELD:
                closed = min(closed, max(start, begin))
            elif end > max(start, begin):
                places.append((max(start, begin), end))
        if not is_end:
            closed = min(closed, max(self._open_end(data), begin))
        places = _merge(places)
        for start, end in places:
            if start < closed < end:
                closed = start if len(data) - start <= _LONGEST_HELD else end
        places = [place for place in places if place[0] < closed]
        self._before = data[max(0, closed - _LOOK_BACK) : closed]
        return (_without(data[begin:closed], [(start - begin, end - begin) for start, end in places])), data[closed:]

    def _shapes(self, data: bytes, found: "_Found") -> "Iterator[tuple[int, int, bool]]":
        """Beginnings and ends of what looks like a secret, and whether it may go on behind the data."""
        size = len(data)
        done = [0] * len(self._marks)
        for place, number in sorted(found.marks):
            if place < done[number]:
                continue
            match = self._match(self._marks[number][1], data, place)
            if match is not None:
                done[number] = match.end()
                is_open = match.end() == size
                yield (place if is_open else match.start("secret")), match.end("secret"), is_open
            elif size - place <= _OPENING and (b"\n" not in data[place:] or self._marks[number][0].startswith(b"--")):
                yield place, place, True
        end = 0
        for place in sorted(found.tokens):
            match = self._match(self._token, data, place) if place >= end else None
            if match is not None:
                end = match.end()
                yield match.start(), end, end == size
        if self._address and b"@" in data:
            yield from self._addresses(data)

    def _addresses(self, data: bytes) -> "Iterator[tuple[int, int, bool]]":
        for at in _all(b"://", data):
            match = self._match(self._address, data, at)
            if match is not None:
                yield *match.span("secret" if match["secret"] else "token"), False

    def _open_end(self, data: bytes) -> int:
        """Where something at the end of the data begins that could become a secret."""
        closed = self._open_word(data) if self._starts else len(data)
        return min(closed, _open_address(data)) if self._address else closed

    def _open_word(self, data: bytes) -> int:
        tail = data[-_LONGEST_WORD:]
        word = tail[len(tail.rstrip(_TOKEN_BYTES + b".")) :]
        if data[len(data) - len(word) - 1 : len(data) - len(word)] == b"\\" and len(word) > 1:
            word = word[1:]  # the letter of an escape
        begun = word in self._word_beginnings or any(word[:size] in self._whole_starts for size in self._start_sizes)
        return len(data) - len(word) if begun else len(data)

    def _match(self, pattern: bytes, data: bytes, at: int) -> "re.Match[bytes] | None":
        compiled = self._compiled.get(pattern)
        if compiled is None:
            import re

            compiled = self._compiled[pattern] = re.compile(pattern)
        return compiled.match(data, at)


class _Found:
    """Numbers of the values that are in a block; places and numbers of marks; places where tokens may begin."""

    def __init__(self, values: "set[int]", marks: "list[tuple[int, int]]", tokens: "list[int]") -> None:
        self.values = values
        self.marks = marks
        self.tokens = tokens


class _PlainSearch:
    def __init__(self, values: "Sequence[bytes]", marks: "Sequence[bytes]", starts: "Sequence[bytes]") -> None:
        self._values = values
        self._marks = marks
        self._pairs = {start[:2] for start in starts}
        self._dotted = tuple(start for start in starts if start.endswith(b"."))

    def find(self, data: bytes) -> _Found:
        values = {number for number, value in enumerate(self._values) if value in data}
        marks = [(at, number) for number, mark in enumerate(self._marks) for at in _all(mark, data)]
        return _Found(values, marks, self._tokens(data) if self._pairs and len(data) >= len(_RUN) else [])

    def _tokens(self, data: bytes) -> list[int]:
        tokens = []
        classes = data.translate(_CLASSES)
        at = classes.find(_RUN)
        while at >= 0:
            place = at + (data[at - 1 : at] == b"\\")
            dotted = b""
            if data[place - 1 : place] == b".":
                dotted = next((start for start in self._dotted if data.endswith(start, 0, place)), b"")
            if dotted or data[place : place + 2] in self._pairs:
                tokens.append(place - len(dotted))
            end = classes.find(b"\n", at)
            at = classes.find(_RUN, end) if end >= 0 else -1
        return tokens


class _CompiledSearch:
    def __init__(self, values: "Sequence[bytes]", marks: "Sequence[bytes]", starts: "Sequence[bytes]") -> None:
        from assay.native.text_search import Needles

        texts = [*values, *marks, *starts]
        self._marks = len(values)
        self._starts = len(values) + len(marks)
        at_edge = [number >= self._starts for number in range(len(texts))]
        self._needles = Needles(texts, at_edge, [_rarest(text) for text in texts])

    def find(self, data: bytes) -> _Found:
        found = _Found(set(), [], [])
        for place, number in self._needles.find(data):
            if number >= self._starts:
                found.tokens.append(place)
            elif number >= self._marks:
                found.marks.append((place, number - self._marks))
            else:
                found.values.add(number)
        return found


def _compiled_search(*texts: "Sequence[bytes]") -> "_CompiledSearch | None":
    from assay.errors import UsageError

    try:
        return _CompiledSearch(*texts)
    except (LookupError, UsageError):  # the library is missing, or forbidden
        return None


def _rarest(text: bytes) -> int:
    """Where the three bytes begin whose two pairs ordinary output has least often."""
    share = [0.95 ** (_COMMON.find(byte) % 256) for byte in text]
    return min(range(len(text) - 2), key=lambda at: share[at + 1] * (share[at] + share[at + 2]))


def _all(text: bytes, data: bytes) -> "Iterator[int]":
    at = data.find(text)
    while at >= 0:
        yield at
        at = data.find(text, at + 1)


def _open_address(data: bytes) -> int:
    """Where an address at the end of the data begins whose user information may still go on."""
    at = data.rfind(b"://", max(0, len(data) - _LONGEST_ADDRESS))
    if at < 0:
        return len(data)
    rest = data[at + 3 :]
    if any(end in rest for end in (b" ", b"\n", b"\r", b"\t", b'"', b"'")):
        return len(data)
    _, sign, host = rest.rpartition(b"@")
    if sign:
        is_open = not any(end in host for end in (b"/", b":", b"?", b"#", b","))
    else:
        authority, slash, _ = rest.partition(b"/")
        port = authority.partition(b":")[2]
        is_open = not slash or bool(port and not port.isdigit())
    return at if is_open else len(data)


class _Beginnings:
    """Tells how much of a block's end could be the beginning of one of the texts."""

    def __init__(self, texts: "Sequence[bytes]") -> None:
        short = [text for text in texts if len(text) <= _SHORT]
        self._long = [text for text in texts if len(text) > _SHORT]
        self._known = {text[:size] for text in short for size in range(1, len(text))}
        self._longest = max(map(len, self._known), default=0)

    def length(self, data: bytes) -> int:
        length = max((_beginning_length(data, text) for text in self._long), default=0)
        tail = data[-self._longest :] if self._longest else b""
        for start in range(len(tail) - length):
            if tail[start:] in self._known:
                return len(tail) - start
        return length


def _beginning_length(data: bytes, text: bytes) -> int:
    """Bytes at the end of `data` that could be the beginning of `text`."""
    at = max(0, len(data) - len(text) + 1)
    while True:
        at = data.find(text[:1], at)
        if at < 0:
            return 0
        if text.startswith(data[at:]):
            return len(data) - at
        at += 1


def _replace(data: bytes, value: bytes, shown: bytes, begin: int, closed: int) -> tuple[bytes, int]:
    """The data with another text where the value begins between two places, and where the second of them is then.

    Behind it waits what may become a longer value.
    """
    pieces = []
    done = 0
    at = data.find(value, begin)
    while 0 <= at < closed:
        pieces += [data[done:at], shown]
        done = at + len(value)
        at = data.find(value, done)
    replaced = b"".join(pieces)
    return replaced + data[done:], len(replaced) + max(0, closed - done)


def _merge(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _without(data: bytes, places: list[tuple[int, int]]) -> bytes:
    """The data with `***` at places that are in order and apart."""
    pieces: list[bytes] = []
    done = 0
    for start, end in places:
        pieces += [data[done:start], b"***"]
        done = end
    return b"".join([*pieces, data[done:]]) if pieces else data
