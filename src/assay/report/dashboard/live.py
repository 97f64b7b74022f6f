from __future__ import annotations

from dataclasses import dataclass

from assay.record import SessionFolder
from assay.report.printable import printable

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
        own = (root / name).resolve()
        if own == root or not own.is_relative_to(root):
            continue
        for log in [own / "stdouterr.log", *own.glob("*/stdouterr.log"), *own.glob("*/*/stdouterr.log")]:
            if not log.is_file() or _run_id(info.name, name, log.parent.name) in ended:
                continue
            changed = log.stat().st_mtime
            if newest is None or changed > newest[0]:
                newest = (changed, name, str(log))
    if newest is None:
        return None
    with open(newest[2], "rb") as log_file:
        size = log_file.seek(0, 2)
        log_file.seek(max(0, size - _TAIL_BYTES))
        text = log_file.read().decode("utf-8", "replace")
    return LiveEntry(newest[1], printable("\n".join(text.splitlines()[-60:]), keep_lines=True))


def _run_id(session: str, entry: str, folder: str) -> str:
    number = folder if folder.startswith(("run-", "warmup-")) else "run-01"
    return f"{session}/{entry}/{number}"
