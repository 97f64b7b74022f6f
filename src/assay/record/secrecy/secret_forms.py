from __future__ import annotations

import json
from base64 import b64encode
from urllib.parse import quote, quote_plus

_CERTAIN = 8
"""Least characters of an encoded piece that is looked for."""


def secret_forms(value: str) -> set[str]:
    """A secret as it is met: plain, in an address, in JSON, quoted by Python, within base64, and by its lines."""
    if not value.isalnum() or not value.isascii():
        encoded = value.encode("utf-8", "surrogateescape")
        forms = {value, quote(encoded, safe=""), quote(encoded), quote_plus(encoded), repr(value)[1:-1]}
        forms |= {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    else:
        forms = {value}
    lines = {line.strip() for line in value.splitlines()}
    return forms | _in_base64(value) | {line for line in lines if len(line) >= _CERTAIN and "-----" not in line}


def _in_base64(value: str) -> set[str]:
    """Parts of base64 that surely hold the value where `user:value` was encoded in one piece: one part for each of the
    three ways that its bytes can fall."""
    data = value.encode("utf-8", "surrogateescape")
    forms = set()
    for before in range(3):
        written = b64encode(bytes(before) + data).decode()
        whole = (before + len(data)) * 8 // 6
        piece = written[(before * 8 + 5) // 6 : whole]
        if len(piece) >= _CERTAIN:
            forms |= {piece, piece.replace("+", "-").replace("/", "_")}
    return forms
