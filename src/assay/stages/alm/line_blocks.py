from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO

from assay.pipeline import FileRange
from assay.pipeline.compressed_file import is_compressed
from assay.stages.alm.bad_line import BadLine
from assay.stages.alm.lines import Lines, count_lines

BLOCK = 2**20
"""Bytes in a batch: small enough to stay in a core's cache through all stages."""
LONGEST_LINE = 64 * 2**20
"""Most bytes of a line; a recording of a day with every word timed takes about 15 MB."""


def line_blocks(manifest: IO[bytes], piece: FileRange) -> Iterator[Lines]:
    """Whole lines of a range, about a megabyte at a time. A line belongs to the range its first byte is in."""
    position = _first_line(manifest, piece.start)
    # Where going back is free, the line that a block breaks off in is read again; elsewhere it is carried along.
    rewinds = "://" not in piece.path and not is_compressed(piece.path)
    held = b""
    while piece.end is None or position < piece.end:
        want = min(max(BLOCK, 2 * len(held)), LONGEST_LINE + 1)
        if rewinds:
            manifest.seek(position)
            held = manifest.read(want)
            ended = len(held) < want
        else:
            block = manifest.read(want - len(held))
            held, ended = held + block if held else block, not block
        if not held:
            return
        whole = len(held) if ended else held.rfind(b"\n") + 1
        if not whole and len(held) > LONGEST_LINE:
            bad = BadLine(
                piece.path, position, open_key(held[:BLOCK]), f"the line is longer than {LONGEST_LINE >> 20} MB"
            )
            yield Lines(b"", piece.path, position, 1, bad=(bad,))
            held, position = _after_line(manifest, position + len(held))
            continue
        if piece.end is not None and position + whole >= piece.end:
            last = held.find(b"\n", piece.end - 1 - position) + 1
            whole = last or whole
        if whole:
            data, held = (held, b"") if whole == len(held) else (held[:whole], held[whole:])
            yield Lines(data, piece.path, position, count_lines(data))
            position += whole
            if rewinds:
                held = b""


def open_key(beginning: bytes) -> str:
    """The entry's key whose value the given bytes break off in."""
    depth, key, string = 0, "", b""
    for token in re.findall(rb'"(?:[^"\\]|\\.)*"|[][{}:]', beginning):
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif token == b":" and depth == 1:
            key = string[1:-1].decode(errors="replace")
        string = token
    return key


def _first_line(manifest: IO[bytes], start: int) -> int:
    """The first line that begins at or after `start`; the one before it belongs to the range before."""
    if start == 0:
        return 0
    manifest.seek(start - 1)
    _, position = _after_line(manifest, start - 1)
    manifest.seek(position)
    return position


def _after_line(manifest: IO[bytes], position: int) -> tuple[bytes, int]:
    """Reads on past the next line end: what was read of the line after it, and where that begins."""
    while chunk := manifest.read(BLOCK):
        found = chunk.find(b"\n") + 1
        if found:
            return chunk[found:], position + found
        position += len(chunk)
    return b"", position
