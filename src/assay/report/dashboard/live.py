from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from assay.record import SessionFolder
from assay.record.secrets import Masker
from assay.report.printable import printable
from assay.untrusted.inside import inside
from assay.untrusted.read_limit import LOG
from assay.untrusted.text_file import last_lines
from assay.untrusted.unreadable import Unreadable

_TAIL_BYTES = 8192


@dataclass(frozen=True)
class LiveEntry:
    """What runs now, judged by its files: the log that was written to last and has no record yet."""

    name: str
    log: str


def live_entry(folder: SessionFolder) -> LiveEntry | None:
    info = folder.info()
    root = folder.path.resolve()
    ended = {record.run_id for record in folder.records()}
    newest: tuple[float, str, str] | None = None
    for name in info.planned:
        own = inside(root, name)
        if own is None:
            continue
        for log in [own / "stdouterr.log", *own.glob("*/stdouterr.log"), *own.glob("*/*/stdouterr.log")]:
            if not log.is_file() or _run_id(info.name, name, log.parent.name) in ended:
                continue
            changed = log.stat().st_mtime
            if newest is None or changed > newest[0]:
                newest = (changed, name, str(log))
    if newest is None:
        return None
    try:
        lines = last_lines(Path(newest[2]), LOG, _TAIL_BYTES)
    except (FileNotFoundError, Unreadable):
        lines = []
    return LiveEntry(newest[1], printable(Masker(os.environ).text("\n".join(lines[-60:])), keep_lines=True))


def _run_id(session: str, entry: str, folder: str) -> str:
    number = folder if folder.startswith(("run-", "warmup-")) else "run-01"
    return f"{session}/{entry}/{number}"
