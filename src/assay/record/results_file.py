from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.record.record import Record
from assay.record.writing.strict_json import encode, untag
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import MOST_OF_A_LINE, RECORDS
from assay.untrusted.regular_file import RegularFile
from assay.untrusted.unreadable import Unreadable
from assay.untrusted.writing import open_existing


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
