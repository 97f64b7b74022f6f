from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from assay.analysis import Comparison, what_changed
from assay.analysis.rules import FILE_NAME as FLOORS
from assay.errors import AssayError, DataError
from assay.history import History, SessionRow
from assay.history.history import FILE_NAME
from assay.record import ENVIRONMENT_FILE, RESULTS_FILE, SESSION_FILE, Environment, SessionFolder, SessionInfo
from assay.report.session_view import SessionView
from assay.server.attention import FILE_NAME as ACKNOWLEDGED
from assay.server.attention import load_acknowledged
from assay.server.cache import ChangeCounter, KeptBoard, KeptComparisons, KeptPages
from assay.server.live_session import LiveSession, live_session
from assay.server.status_board import StatusBoard, StatusBoardMaker

_LOOKED_AT = 30
"""Newest folders that are looked into for a running session; there may be thousands."""


@dataclass(frozen=True)
class Opened:
    """A session to show: from its folder, or from the history alone where the folder is gone."""

    folder: SessionFolder
    view: SessionView


_NOTHING = StatusBoard()
_LIVE_S = 1.0
"""Seconds for which a look at running sessions is shown to others who ask too."""
_NAMES = ("name", "session", "base", "head")
"""What addresses call a session by."""


class Store:
    """The results folder as pages read it, with what has been read and made of it already."""

    def __init__(self, results_dir: Path, may_acknowledge: bool = False) -> None:
        self.results_dir = results_dir
        self.may_acknowledge = may_acknowledge
        """Whether readers may say that they have looked at something, which is kept in the folder."""
        self.pages = KeptPages()
        self._kept = KeptComparisons()
        self._counter = ChangeCounter(results_dir / FILE_NAME)
        self._boards, self._board = StatusBoardMaker(), KeptBoard()
        self._looking = threading.Lock()
        self._live: tuple[float, tuple[LiveSession, ...]] = (-_LIVE_S, ())
        self._times: tuple[Hashable, dict[str, float | None]] = (None, {})

    def what_changed(self, opened: Opened, history: History | None) -> Comparison | None:
        """Kept until the session, what was recorded of the time before it, or the noise floors change: reading the past
        takes the longest of all."""
        records = [record for entry in opened.view.entries for record in entry.runs]
        if history is None or not records:
            return None
        info = opened.view.info
        past = history.runs_before(min(record.started_at for record in records))
        key = (info.name, info.finished_at, len(records), past, _stamp(self.results_dir / FLOORS))
        return self._kept.get(key, lambda: what_changed(records, history))

    def keep_comparison(self, key: tuple[object, ...], make: Callable[[], Comparison | None]) -> Comparison | None:
        return self._kept.get((*key, *self._changes()), make)

    def _changes(self) -> list[object]:
        """The history's count of changes, and when the noise floors were last written, on which verdicts rest too."""
        return [self._counter.value(), _stamp(self.results_dir / FLOORS)]

    def state(self, asked: Mapping[str, str]) -> Hashable:
        """All that a page can rest on: equal states, equal pages."""
        sessions = [asked[key] for key in _NAMES if key in asked] + asked.get("with", "").split("\n")
        files = [
            _stamp(self.results_dir / name / file)
            for name in sessions
            if _is_plain(name)
            for file in (SESSION_FILE, RESULTS_FILE, ENVIRONMENT_FILE)
        ]
        return (*self._changes(), _stamp(self.results_dir / ACKNOWLEDGED), *files)

    def home_state(self) -> Hashable:
        """What the first screen depends on; its board may be one that was made a moment ago."""
        return (self._newest_board().number, _stamp(self.results_dir / ACKNOWLEDGED), self.live())

    def board(self) -> StatusBoard:
        """What the first screen shows, of the history as it is or, where that takes long, as it was a moment ago."""
        board = self._newest_board()
        try:
            return board.acknowledge(load_acknowledged(self.results_dir), "")
        except DataError as error:
            return board.acknowledge((), str(error))

    def _newest_board(self) -> StatusBoard:
        if not (self.results_dir / FILE_NAME).is_file():
            return _NOTHING
        return self._board.get(tuple(map(str, self._changes())), self._make_board)

    def _make_board(self) -> StatusBoard:
        with self.history() as history:
            if history is None:
                return StatusBoard()
            return self._boards.make(history, lambda name: self._verdict(name, history))

    def _verdict(self, name: str, history: History) -> Comparison | None:
        """What a session that is over changed; one that is damaged says so on its own page."""
        try:
            row = history.session(name)
            if row is None or row.status == "running":
                return None
            opened = self.session(name, history)
            return self.what_changed(opened, history) if opened else None
        except AssayError:
            return None

    def live(self) -> tuple[LiveSession, ...]:
        """Sessions that run, looked at once a second however many ask."""
        with self._looking:
            at, seen = self._live
            if time.monotonic() - at >= _LIVE_S:
                seen = tuple(self._look())
                self._live = (time.monotonic(), seen)
            return seen

    def _look(self) -> Iterator[LiveSession]:
        for info in self.running():
            with suppress(DataError, OSError):
                yield live_session(SessionFolder(self.results_dir / info.name), self.usual_s)

    def usual_s(self, entry: str) -> float | None:
        """Median time of the latest runs of an entry that passed."""
        key = self._counter.value()
        if self._times[0] != key:
            self._times = (key, {})
        known = self._times[1]
        if entry not in known:
            try:
                with self.history() as history:
                    runs = history.runs(entry=entry, outcome="passed", limit=5) if history else []
            except AssayError:
                runs = []
            known[entry] = median(run.exec_time_s for run in runs) if runs else None
        return known[entry]

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
        if _is_plain(name):
            yield self.results_dir / name

    def running(self) -> list[SessionInfo]:
        """Sessions that say they run, by their folders: the history may not know them yet."""
        if not self.results_dir.is_dir():
            return []
        newest = sorted(_folders(self.results_dir), reverse=True)[:_LOOKED_AT]
        found = []
        for _, name in newest:
            path = self.results_dir / name
            if not SessionFolder.is_one(path):
                continue
            try:
                info = SessionFolder(path).info()
            except DataError:
                continue
            if info.status == "running" and _alive(info.pid):
                found.append(info)
        return found


def _is_plain(name: str) -> bool:
    return bool(name) and "\0" not in name and Path(name).name == name and name not in (".", "..")


def _folders(folder: Path) -> Iterator[tuple[float, str]]:
    """When each was last changed, and its name. A folder may have thousands."""
    with os.scandir(folder) as inside:
        for one in inside:
            with suppress(OSError):
                if one.is_dir():
                    yield one.stat().st_mtime, one.name


def _stamp(path: Path) -> tuple[int, int]:
    """When a file was last written, and how long it is."""
    try:
        stat = path.stat()
    except (OSError, ValueError):
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


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
