from __future__ import annotations

from pathlib import Path

from assay.untrusted.read_limit import ReadLimit
from assay.untrusted.regular_file import RegularFile, read_bytes


def read_text(path: Path, limit: ReadLimit) -> str:
    """Reads a file as UTF-8; what is not becomes U+FFFD."""
    return read_bytes(path, limit).decode("utf-8", "replace")


def last_lines(path: Path, limit: ReadLimit, most: int) -> list[str]:
    """The end of a file, at most so many bytes of it, without reading the rest.

    A line cut at the front is left out, unless there is no other.
    """
    with RegularFile(path, limit) as file:
        lines = file.tail(most).decode("utf-8", "replace").splitlines()
        return lines[1:] if file.size > most and len(lines) > 1 else lines


def storable(text: str) -> str:
    """Without halves of surrogate pairs, which no UTF-8 file can hold."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
