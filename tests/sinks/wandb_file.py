"""A reader of `.wandb` files: the log format of LevelDB (blocks of 32 KiB, records of four kinds, each with its own
checksum, length and type), after a header of seven bytes. Each record is a protocol buffer."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_BLOCK, _FULL, _FIRST, _MIDDLE, _LAST = 32768, 1, 2, 3, 4


@dataclass
class OfflineRun:
    id: str = ""
    name: str = ""
    group: str = ""
    project: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    artifacts: list[str] = field(default_factory=list)
    exit_code: int | None = None


def payloads(data: bytes) -> Iterator[bytes]:
    assert data[:4] == b":W&B", data[:8]
    at, whole = 7, b""
    while at + 7 <= len(data):
        left = _BLOCK - at % _BLOCK
        if left < 7:
            at += left
            continue
        checksum, length, kind = struct.unpack("<IHB", data[at : at + 7])
        if kind == 0:
            at += left
            continue
        body = data[at + 7 : at + 7 + length]
        assert len(body) == length
        assert zlib.crc32(body, zlib.crc32(bytes([kind]))) == checksum
        at += 7 + length
        whole = body if kind in (_FULL, _FIRST) else whole + body
        if kind in (_FULL, _LAST):
            yield whole


def read(path: Path) -> OfflineRun:
    from wandb.proto import wandb_internal_pb2

    run = OfflineRun()
    for payload in payloads(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(payload)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            run.id, run.name, run.group = record.run.run_id, record.run.display_name, record.run.run_group
            run.project = record.run.project
            run.config |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
        elif kind == "history":
            run.history.append({_key(item): json.loads(item.value_json) for item in record.history.item})
        elif kind == "summary":
            run.summary |= {_key(item): json.loads(item.value_json) for item in record.summary.update}
        elif kind == "artifact":
            run.artifacts += [entry.path for entry in record.artifact.manifest.contents]
        elif kind == "exit":
            run.exit_code = record.exit.exit_code
    return run


def _key(item: Any) -> str:
    return item.key or "/".join(item.nested_key)


def runs(folder: Path) -> list[OfflineRun]:
    return [read(path) for path in sorted((folder / "wandb").glob("offline-run-*/run-*.wandb"))]
