"""Random damage to a document or to bytes: a few places at once, where `mutants` goes through every place once."""

from __future__ import annotations

import base64
import json
import random
import zlib
from typing import Any

from mutants import WRONG, Place, places

_HERE = "@the damaged value %d@"


def damaged_json(document: Any, rng: random.Random) -> bytes:
    """One to three places changed; one document in eight is torn on top of that."""
    texts: dict[str, str] = {}
    for number in range(rng.choice((1, 1, 1, 2, 3))):
        document = _changed(document, rng.choice(list(places(document))), rng, number, texts)
    written = json.dumps(document)
    for mark, text in texts.items():
        written = written.replace(json.dumps(mark), text)
    data = written.encode()
    return damaged_bytes(data, rng) if rng.random() < 0.125 else data


def damaged_lines(data: bytes, rng: random.Random) -> bytes:
    """One line of a file of JSON lines changed, doubled, swapped with another or torn."""
    lines = data.splitlines()
    at = rng.randrange(len(lines))
    how = rng.randrange(8)
    if how == 0:
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif how == 1:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 2:
        return damaged_bytes(data, rng)
    else:
        lines[at] = damaged_json(json.loads(lines[at]), rng)
    return b"\n".join([*lines, b""])


def damaged_bytes(data: bytes, rng: random.Random) -> bytes:
    """Up to four cuts, gaps, doubled pieces, changed bytes and numbers as lengths are written."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        to = min(to, at + rng.choice((1, 8, 64, 4096, 2**30)))
        pieces = (
            data[:at],
            data[:at] + data[to:],
            data[:to] + data[at:],
            data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
            data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :] if at < len(data) else data,
            data[:at] + rng.choice(_NUMBERS).to_bytes(8, "little") + data[at + 8 :],
            data[:at] + bytes(to - at) + data[to:],
            data[:at] + rng.randbytes(min(to - at, 64)) + data[at:],
        )
        data = rng.choice(pieces)
    return data


_NUMBERS = (0, 1, 127, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1)


def packed(data: bytes) -> str:
    """Short enough for a file of findings, whatever was repeated in it."""
    return base64.b85encode(zlib.compress(data, 9)).decode()


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


def _changed(document: Any, place: Place, rng: random.Random, number: int, texts: dict[str, str]) -> Any:
    if not place:
        if rng.random() < 0.9:
            return document
        texts[_HERE % number] = rng.choice(list(WRONG.values()))
        return _HERE % number
    copy = dict(document) if isinstance(document, dict) else list(document)
    key = place[0]
    if len(place) > 1:
        copy[key] = _changed(document[key], place[1:], rng, number, texts)
        return copy
    how = rng.randrange(10)
    if how == 0:
        del copy[key]
    elif how == 1 and isinstance(copy, dict):
        copy[f"{key}x"] = copy.pop(key)
    elif how == 2 and isinstance(copy, list):
        copy *= rng.choice((2, 50))
    elif how == 3:
        copy[key] = [copy[key]]
    elif how == 4:
        other = rng.choice(list(copy) if isinstance(copy, dict) else range(len(copy)))
        copy[key], copy[other] = copy[other], copy[key]
    else:
        texts[_HERE % number] = rng.choice(list(WRONG.values()))
        copy[key] = _HERE % number
    return copy
