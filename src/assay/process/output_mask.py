"""Takes secrets out of a program's output as it passes, in whatever pieces it comes.

Known values and the beginnings of tokens are looked for with byte searches; patterns are tried only where one of those
has found something, and `re` is imported only then. Of 50 MB of ordinary output nearly all is never seen by a pattern.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence
    from typing import Any

_COMMON = b" etaoinsrl.0:1cdmuhgp2=_b-/3,f45y\n678kw9\"v'()[]{}EATISRNCOLDPMFUBGHVxWYK%|*<>jq#zX+&?!@;$^~`\\ZQJ"
"""Bytes of ordinary output, the commonest first. To search for a rare byte of a text is several times as fast as to
search for the text."""
_FEW = 32
"""Finds of a rare byte after which the text itself is looked for: the byte is not rare here."""
_SMALL = 4096
"""Bytes below which the plain search is the faster one."""
_TOKEN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_CLASSES = bytes(120 if byte in _TOKEN_BYTES else 10 for byte in range(256))
_RUN = b"x" * 16
"""A token has at least so many letters, digits, `_` and `-` in one piece."""
_LONGEST_HELD = 1 << 14
_LONGEST_WORD = 1 << 12
_LONGEST_ADDRESS = 1 << 10
_OPENING = 64
"""Bytes that the name of a header, its signs and its scheme take: so long what follows them is waited for."""


class OutputMask:
    """What is replaced in a stream of bytes. The start of a secret at the end of a block waits for the next block."""

    def __init__(self, values: "Sequence[tuple[bytes, bytes]]", shapes: "dict[str, Any] | None" = None) -> None:
        """`values`: what is replaced and by what, longest first. `shapes`: see `ProcessSpec.shapes`."""
        self._values = [(_Needle(value), shown) for value, shown in values]
        self._shapes = _Shapes(shapes) if shapes else None
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        data = self._held + data
        for needle, shown in self._values:
            if needle.find(data) >= 0:
                data = data.replace(needle.text, shown)
        held = max((needle.beginning(data) for needle, _ in self._values), default=0)
        if self._shapes:
            data, held = self._shapes.mask(data, len(data) - held)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def end(self) -> bytes:
        """What was held back, when no more comes."""
        data, self._held = self._held, b""
        return self._shapes.mask(data, len(data), is_end=True)[0] if self._shapes and data else data


class _Needle:
    def __init__(self, text: bytes) -> None:
        self.text = text
        self._at = max(range(len(text)), key=lambda at: _COMMON.find(text[at]) % 256)
        self._rare = text[self._at : self._at + 1]

    def find(self, data: bytes, start: int = 0) -> int:
        if len(data) < _SMALL:
            return data.find(self.text, start)
        place = start + self._at
        for _ in range(_FEW):
            place = data.find(self._rare, place)
            if place < 0:
                return -1
            if data.startswith(self.text, place - self._at):
                return place - self._at
            place += 1
        return data.find(self.text, place - self._at)

    def beginning(self, data: bytes) -> int:
        """Bytes at the end of `data` that could be the beginning of this."""
        first = self.text[:1]
        at = max(0, len(data) - len(self.text) + 1)
        while True:
            at = data.find(first, at)
            if at < 0:
                return 0
            if self.text.startswith(data[at:]):
                return len(data) - at
            at += 1


class _Shapes:
    def __init__(self, shapes: "dict[str, Any]") -> None:
        self._token: bytes = shapes["token"]
        self._address: bytes = shapes["address"]
        self._starts: tuple[bytes, ...] = tuple(shapes["starts"])
        plain = [start for start in self._starts if b"." not in start]
        self._pairs = {start[:2] for start in plain}
        self._dotted = tuple(start for start in self._starts if start.endswith(b"."))
        self._marks = [(_Needle(mark), pattern) for mark, pattern in shapes["marks"]]
        self._scheme = _Needle(b"://")
        self._compiled: dict[bytes, re.Pattern[bytes]] = {}

    def mask(self, data: bytes, closed: int, is_end: bool = False) -> tuple[bytes, int]:
        """The data without what looks like a secret, and how many bytes at its end wait for more.

        `closed`: bytes that do not wait for another reason.
        """
        places: list[tuple[int, int]] = []
        for start, end, is_open in self._find(data):
            if is_open and not is_end and len(data) - start <= _LONGEST_HELD:
                closed = min(closed, start)
            elif end > start:
                places.append((start, end))
        if not is_end:
            closed = min(closed, self._open_word(data), self._open_address(data))
        for start, end in sorted(places, reverse=True):
            if start < closed < end:
                closed = start
        places = sorted(place for place in places if place[0] < closed)
        masked = _without(data[:closed], places) if places else data[:closed]
        return masked + data[closed:], len(data) - closed

    def _find(self, data: bytes) -> "Iterator[tuple[int, int, bool]]":
        """Beginnings and ends of what looks like a secret, and whether it may go on behind the data."""
        size = len(data)
        if b"@" in data:
            yield from self._find_addresses(data)
        for needle, pattern in self._marks:
            at = needle.find(data)
            while at >= 0:
                found = self._match(pattern, data, at)
                if found is not None:
                    is_open = found.end() == size
                    yield (at if is_open else found.start("secret")), found.end("secret"), is_open
                elif size - at <= _OPENING and b"\n" not in data[at:]:
                    yield at, at, True
                at = needle.find(data, at + len(needle.text) if found is None else found.end())
            if begun := needle.beginning(data):
                yield size - begun, size - begun, True
        if size >= len(_RUN):
            yield from self._find_tokens(data)

    def _find_tokens(self, data: bytes) -> "Iterator[tuple[int, int, bool]]":
        classes = data.translate(_CLASSES)
        at = classes.find(_RUN)
        while at >= 0:
            end = classes.find(b"\n", at)
            end = len(data) if end < 0 else end
            place = at + (data[at - 1 : at] == b"\\" and data[at : at + 1] in b"nrt")
            if data[place - 1 : place] == b".":
                dotted = next((start for start in self._dotted if data.endswith(start, 0, place)), b"")
                place -= len(dotted)
            if data[place : place + 2] in self._pairs or data[place - 1 : place] == b"." or place < at:
                found = self._match(self._token, data, place)
                if found is not None:
                    yield found.start(), found.end(), found.end() == len(data)
                    end = max(end, found.end())
            at = classes.find(_RUN, end)

    def _find_addresses(self, data: bytes) -> "Iterator[tuple[int, int, bool]]":
        at = data.find(b"@")
        while at >= 0:
            start = data.rfind(b"://", max(0, at - _LONGEST_ADDRESS), at)
            found = self._match(self._address, data, start) if start >= 0 else None
            if found is not None:
                yield *found.span("secret" if found["secret"] else "token"), False
            at = data.find(b"@", max(at + 1, found.end() + 1 if found else 0))

    def _open_word(self, data: bytes) -> int:
        """Where a word at the end of the data begins that could become a token."""
        tail = data[-_LONGEST_WORD:]
        word = tail[len(tail.rstrip(_TOKEN_BYTES + b".")) :]
        if not word:
            return len(data)
        if data[len(data) - len(word) - 1 : len(data) - len(word)] == b"\\" and len(word) > 1:
            word = word[1:]
        if any(start.startswith(word) or word.startswith(start) for start in self._starts):
            return len(data) - len(word)
        return len(data)

    def _open_address(self, data: bytes) -> int:
        """Where an address at the end of the data begins whose user information may still go on."""
        at = data.rfind(b"://", max(0, len(data) - _LONGEST_ADDRESS))
        if at < 0:
            return len(data) - self._scheme.beginning(data)
        rest = data[at + 3 :]
        user, sign, host = rest.rpartition(b"@")
        if not sign:
            user, slash, _ = rest.partition(b"/")
            port = user.partition(b":")[2]
            is_open = not slash or (port and not port.isdigit())
        else:
            is_open = not any(end in host for end in (b"/", b":", b"?", b"#", b","))
        ended = any(end in rest for end in (b" ", b"\n", b"\r", b"\t", b'"', b"'"))
        return at if is_open and not ended else len(data)

    def _match(self, pattern: bytes, data: bytes, at: int) -> "re.Match[bytes] | None":
        compiled = self._compiled.get(pattern)
        if compiled is None:
            import re

            compiled = self._compiled[pattern] = re.compile(pattern)
        return compiled.match(data, at)


def _without(data: bytes, places: list[tuple[int, int]]) -> bytes:
    pieces: list[bytes] = []
    done = 0
    for start, end in places:
        if start >= done:
            pieces += [data[done:start], b"***"]
            done = end
    return b"".join([*pieces, data[done:]])
