from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from assay.record.record import Record
from assay.record.strict_json import decode, encode


def append_record(path: Path, record: Record, with_tasks: bool = True, sync: bool = True) -> None:
    """One line, on disk when this returns (without `sync`: in the system's hands). A line cut short is closed first."""
    line = encode(record.to_json(with_tasks)).encode() + b"\n"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        end = os.lseek(descriptor, 0, os.SEEK_END)
        if end and os.pread(descriptor, 1, end - 1) != b"\n":
            line = b"\n" + line
        try:
            _write_all(descriptor, line)
        except OSError:
            os.ftruncate(descriptor, end)
            raise
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_records(path: Path) -> Iterator[Record]:
    """Lines that are not whole (a crash while writing) are passed over: their run has no record yet."""
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                written = decode(line)
            except (json.JSONDecodeError, UnicodeDecodeError):
                continue
            if isinstance(written, dict):
                yield Record.from_json(written)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
