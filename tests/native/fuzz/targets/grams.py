"""Documents of near-duplicate search: the compiled signatures against the definition, written as it is said."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Iterator
from functools import cache

from tests.native.fuzz.target import Target

from assay.native.library import library

BINS, WIDTH, MASK, MOST = 256, 24, 2**64 - 1, 16
BASE = 0x9E3779B97F4A7C15
_LOWERED = bytes(range(256)).lower()


class GramsTarget(Target):
    name = "grams"
    longest = 1024
    words = ("\xff", "  ", "\t\n", "AbC", "\x00", "\x7f", "\xc3\x84", "the same words over and over ")

    def seeds(self) -> Iterator[bytes]:
        yield b""
        yield b"Shorter than one gram"
        yield b"exactly twenty-four byte"
        for length in (25, 63, 64, 65, 200, 900):
            yield bytes(b"Words \t of  a\nDOCUMENT and its grams, "[i * i % 38] for i in range(length))
        yield b'plain\xffwith \\u00e9scapes \\n\\t and \\ud83d\\ude00 and \\"quotes\\" in it\xffplain'
        yield b"one document\xffand \xff\xff another that is somewhat longer than the first"

    def difference(self, data: bytes) -> str | None:
        starts, ends = [0], []
        for place, byte in enumerate(data):
            if byte == 255:
                ends.append(place)
                starts.append(place + 1)
        ends.append(len(data))
        starts, ends = starts[:MOST], ends[:MOST]
        signed, rows = _signed(data, starts, ends)
        for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
            document = data[start:end] if number % 2 == 0 else _unescaped(data[start:end])
            if document is None:
                return None if signed == number else f"{data[start:end]!r} has a broken escape and was signed"
            if signed <= number:
                return f"{data[start:end]!r} was not signed"
            if rows[number * BINS : (number + 1) * BINS] != _defined(document):
                return f"the signature of {data[start:end]!r} is not what its definition says"
        return None


def _unescaped(inside: bytes) -> bytes | None:
    """The text of a JSON string; bytes that are no UTF-8 stay as they are."""
    try:
        text = json.loads('"' + inside.decode("utf-8", "surrogateescape") + '"')
        return str(text).encode("utf-8", "surrogateescape")
    except ValueError:
        return None


def _signed(data: bytes, starts: list[int], ends: list[int]) -> tuple[int, list[int]]:
    loaded, count = library(), len(starts)
    assert loaded is not None
    numbers = ctypes.c_int64 * count
    rows = (ctypes.c_uint32 * (BINS * count))()
    sign = loaded.assay_minhash_sign
    sign.restype = ctypes.c_int64
    escaped = bytes(number & 1 for number in range(count))
    signed = sign(data, numbers(*starts), numbers(*ends), escaped, ctypes.c_int64(count), _turns(), rows)
    return int(signed), list(rows)


@cache
def _turns() -> ctypes.Array[ctypes.c_uint16]:
    loaded = library()
    assert loaded is not None
    turns = (ctypes.c_uint16 * (BINS * BINS))()
    loaded.assay_minhash_turns(turns)
    return turns


def _defined(document: bytes) -> list[int]:
    plain = re.sub(rb"[ \t\n\r]+", b" ", document.translate(_LOWERED)).removeprefix(b" ")
    if len(plain) < WIDTH:
        hashes = [_spread(_number(plain) + len(plain))]
    else:
        hashes = [_spread(_number(plain[at : at + WIDTH])) for at in range(len(plain) - WIDTH + 1)]
    own: dict[int, int] = {}
    for value in hashes:
        own[value >> 56] = min(own.get(value >> 56, MASK), value & 0xFFFFFFFE)
    return [own[bin_] if bin_ in own else own[_lender(bin_, own)] for bin_ in range(BINS)]


def _number(gram: bytes) -> int:
    number = 0
    for byte in gram:
        number = (number * BASE + byte + 1) & MASK
    return number


def _lender(bin_: int, taken: dict[int, int]) -> int:
    return next(other for other in _order(bin_) if other in taken)


@cache
def _order(bin_: int) -> tuple[int, ...]:
    """The bins that an empty one tries, each where it comes first."""
    found: dict[int, None] = {}
    turn = 1
    while len(found) < BINS:
        found[_spread(((bin_ << 32) + turn) * BASE) >> 56] = None
        turn += 1
    return tuple(found)


def _spread(value: int) -> int:
    value &= MASK
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
    return value ^ value >> 31


TARGET = GramsTarget()
