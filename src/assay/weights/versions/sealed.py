"""Small files with a checksum as their last line, so that a changed byte is noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import SESSION
from assay.untrusted.regular_file import read_bytes
from assay.untrusted.unreadable import Unreadable


def seal(value: dict[str, Any]) -> bytes:
    body = json.dumps(value, sort_keys=True, indent=1).encode() + b"\n"
    return body + _checksum(body) + b"\n"


def unseal(path: Path) -> dict[str, Any]:
    try:
        data = read_bytes(path, SESSION)
    except FileNotFoundError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    return unseal_bytes(str(path), data)


def unseal_bytes(where: str, data: bytes) -> dict[str, Any]:
    body, last = data[:-17], data[-17:]
    if last != _checksum(body) + b"\n":
        raise DataError(f"{where} is damaged: its checksum does not match")
    try:
        value = parse_json(body, where, own=True)
    except Unreadable:
        value = None
    if not isinstance(value, dict):
        raise DataError(f"{where} is damaged: not a mapping")
    return value


def _checksum(body: bytes) -> bytes:
    from xxhash import xxh3_64_hexdigest

    return str(xxh3_64_hexdigest(body)).encode()
