"""`warnings.json`: what a benchmark program wants to be said of its run, a list of sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.files.json_text import encode, parse_json, read_json, untag
from assay.files.reading import MOST_OF_A_LINE, RECORDS, RESULT, RegularFile, Unreadable
from assay.files.writing import open_existing, write_atomic
from assay.record.record import Record


def append_record(path: Path, record: Record, with_tasks: bool = True, sync: bool = True) -> None:
    """One line, on disk when this returns (without `sync`: in the system's hands). A line cut short is closed first."""
    line = encode(record.to_json(with_tasks)).encode() + b"\n"
    descriptor = open_existing(path)
    try:
        end = os.lseek(descriptor, 0, os.SEEK_END)
        if end and os.pread(descriptor, 1, end - 1) != b"\n":
            line = b"\n" + line
        try:
            _write_all(descriptor, line)
        except BaseException:  # an interrupt too: a line is there whole or not at all
            os.ftruncate(descriptor, end)
            raise
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_records(path: Path) -> Iterator[Record]:
    """Lines that are not whole (a crash while writing) are passed over: their run has no record yet."""
    try:
        file = RegularFile(path, RECORDS)
    except FileNotFoundError:
        return
    with file:
        for number, line in enumerate(file.lines(MOST_OF_A_LINE), 1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            try:
                written = parse_json(line, where, untag, own=True)
            except Unreadable:
                continue
            if isinstance(written, dict):
                yield _record(written, where)


def _record(written: dict[str, Any], where: str) -> Record:
    try:
        return Record.from_json(written)
    except (DataError, ValueError) as error:
        raise Unreadable(where, f"is not a record: {error}") from None


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


NAME = "warnings.json"
MOST = 20
LONGEST = 500
"""Characters of one of them that are kept."""


def write_warnings(folder: Path, warnings: Sequence[str]) -> None:
    if warnings:
        write_atomic(folder / NAME, encode(list(warnings), indent=2))
    else:
        (folder / NAME).unlink(missing_ok=True)


def read_warnings(folder: Path) -> list[str]:
    try:
        content = read_json(folder / NAME, RESULT)
    except FileNotFoundError:
        return []
    except Unreadable as error:
        return [f"{NAME} {error.reason}"]
    if not isinstance(content, list) or not all(isinstance(one, str) for one in content):
        return [f"{NAME} should hold a list of strings; it was not read"]
    more = [f"{NAME} has {len(content) - MOST} more"] if len(content) > MOST else []
    return [one if len(one) <= LONGEST else one[:LONGEST] + "…" for one in content[:MOST]] + more
