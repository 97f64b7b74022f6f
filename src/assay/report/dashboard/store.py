from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.analysis import Comparison, what_changed
from assay.analysis.noise_floors import FILE_NAME as FLOORS
from assay.errors import DataError
from assay.history import History, SessionRow
from assay.history.history import FILE_NAME
from assay.record import Environment, SessionFolder, SessionInfo
from assay.report.dashboard.kept_comparisons import KeptComparisons
from assay.report.view import SessionView

_LOOKED_AT = 30
"""Newest folders that are looked into for a running session; there may be thousands."""


@dataclass(frozen=True)
class Opened:
    """A session to show: from its folder, or from the history alone where the folder is gone."""

    folder: SessionFolder
    view: SessionView


@dataclass(frozen=True)
class Store:
    results_dir: Path
    _kept: KeptComparisons = field(default_factory=KeptComparisons)

    def what_changed(self, opened: Opened, history: History | None) -> Comparison | None:
        """Kept until the session, the history or the noise floors change: reading the past takes the longest of all."""
        records = [record for entry in opened.view.entries for record in entry.runs]
        if history is None or not records:
            return None
        info = opened.view.info
        key = (info.name, info.finished_at, len(records))
        return self.kept(key, lambda: what_changed(records, history))

    def kept(self, key: tuple[object, ...], make: Callable[[], Comparison | None]) -> Comparison | None:
        return self._kept.get((*key, *self._changed()), make)

    def _changed(self) -> list[tuple[int, int]]:
        """When the files that a verdict rests on were last written, and how long they are."""
        files = (self.results_dir / name for name in (FILE_NAME, f"{FILE_NAME}-wal", FLOORS))
        return [(stat.st_mtime_ns, stat.st_size) for file in files if file.is_file() and (stat := file.stat())]

    @contextmanager
    def history(self) -> Iterator[History | None]:
        """One connection a request; None before the first session has been recorded."""
        if not (self.results_dir / FILE_NAME).is_file():
            yield None
            return
        with History.beside(self.results_dir, read_only=True) as history:
            yield history

    def session(self, name: str, history: History | None) -> Opened | None:
        row = history.session(name) if history else None
        for path in self._places(name, row):
            if SessionFolder.is_one(path):
                folder = SessionFolder(path)
                return Opened(folder, SessionView.of(folder))
        if row is None or history is None:
            return None
        return Opened(SessionFolder(self.results_dir / "gone"), _from_history(row, history))

    def _places(self, name: str, row: SessionRow | None) -> Iterator[Path]:
        if row is not None and row.folder:
            yield Path(row.folder)
        # A name comes from an address: only a folder directly inside is meant, never a way out.
        if name and Path(name).name == name and name not in (".", ".."):
            yield self.results_dir / name

    def running(self) -> list[SessionInfo]:
        """Sessions that say they run, by their folders: the history may not know them yet."""
        if not self.results_dir.is_dir():
            return []
        folders = [path for path in self.results_dir.iterdir() if SessionFolder.is_one(path)]
        newest = sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True)[:_LOOKED_AT]
        found = []
        for path in newest:
            try:
                info = SessionFolder(path).info()
            except DataError:
                continue
            if info.status == "running" and _alive(info.pid):
                found.append(info)
        return found


def _alive(pid: int | None) -> bool:
    """A session whose process was killed still says that it runs."""
    return pid is None or Path(f"/proc/{pid}").exists()


def _from_history(row: SessionRow, history: History) -> SessionView:
    records = history.records(row.name)
    info = SessionInfo(
        name=row.name, started_at=row.started_at, status="finished" if row.status == "finished" else "interrupted",
        finished_at=row.finished_at, reason=row.reason, planned=tuple(dict.fromkeys(r.name for r in records)),
        kind=row.kind,
    )  # fmt: skip
    environment = Environment(
        host=row.host, git_commit=row.git_commit, git_branch=row.git_branch, git_dirty=row.git_dirty
    )
    return SessionView.build(info, environment, records)
