"""One process at a time on a session folder: two would each run what the other runs."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assay.config.entry_name import check_name
from assay.errors import UsageError
from assay.files.writing import open_existing, open_new, write_atomic
from assay.record import OUTPUT_FILE, USAGE_FILE, Environment, SessionFolder, SessionInfo
from assay.record.jobs import Jobs
from assay.session.runs import Run

RESERVE_BYTES = 2 << 20


def free_mb(folder: Path) -> float:
    """Free space on the folder's disk, in MB; where a program removed the folder, on that of the nearest one left."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free / 2**20


class Reserve:
    """Space set aside so that, on a disk that fills up, the record that says so can still be written."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".reserve"
        self.take()

    def take(self) -> None:
        try:
            size = min(RESERVE_BYTES, shutil.disk_usage(self._path.parent).free // 10)
            with open_new(self._path, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, max(size, 1))
        except OSError:
            self.release()

    def release(self) -> None:
        with suppress(OSError):  # a program can put anything there
            self._path.unlink(missing_ok=True)

    def writing(self, write: Callable[[], None]) -> None:
        """Does `write`; if the disk is full, once more with the reserve released."""
        try:
            write()
        except OSError:
            self.release()
            write()


DEFAULT = "nightly-run"


def session_name(given: str | None, older_form: bool, now: datetime, results_dir: Path) -> str:
    """Newer form: the time is appended, and a number if need be. Older: as given, refused if the folder exists."""
    if given is not None:
        try:
            given = check_name(given)
        except ValueError as error:
            raise UsageError(f"--session-name {given!r}: {error}") from None
    if given is not None and older_form:
        if (results_dir / given).exists():
            raise UsageError(f"--session-name {given}: {results_dir / given} exists already; choose another name")
        return given
    stamp = now.strftime("%Y%m%d-%H%M%S" if older_form else "_%Y-%m-%d__%H-%M-%S")
    separator = "-" if older_form else "_"
    name = candidate = f"{given or DEFAULT}{separator}{stamp}"
    number = 2
    while (results_dir / candidate).exists():
        candidate = f"{name}-{number}"
        number += 1
    return candidate


@dataclass(frozen=True)
class OpenSession:
    """A session that runs can be added to: its folder, and what is known of it before the first."""

    folder: SessionFolder
    environment: Environment
    info: SessionInfo


_MOST = 1000


def make_way(path: Path) -> Path | None:
    """Moves aside what a program has put in the place of a file of the session's: a directory, a link, a FIFO.

    Returns where it is now, or None where there was nothing to move.
    """
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    return None if stat.S_ISREG(mode) else _move_aside(path)


def make_way_for_folder(folder: Path, root: Path) -> None:
    """The same for a folder and those above it, up to `root`: nothing is written through a link."""
    for path in (*reversed(folder.relative_to(root).parents[:-1]), folder.relative_to(root)):
        place = root / path
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            _move_aside(place)


def _move_aside(path: Path) -> Path | None:
    for number in range(1, _MOST):
        aside = path.with_name(f"{path.name}.foreign-{number}")
        if not os.path.lexists(aside):
            path.rename(aside)
            return aside
    return None


@contextmanager
def only_one(folder: SessionFolder) -> Iterator[None]:
    """Raises `UsageError` where another process has it, or where nothing can be written there."""
    descriptor, process = _lock(folder), os.getpid()
    try:
        yield
    finally:
        if descriptor is not None:
            if os.getpid() == process:
                # A child that was forked meanwhile has the file open, too: closing it here would not let go.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def is_running(folder: SessionFolder) -> bool:
    if Jobs(folder.path).running():
        return True
    try:
        with only_one(folder):
            return False
    except UsageError:
        return True


def _lock(folder: SessionFolder) -> int | None:
    if folder.lock is None:
        return None
    try:
        descriptor = open_existing(folder.lock)
    except OSError as error:
        raise UsageError(f"session {folder.path.name} cannot go on: {error.strerror}: {folder.lock}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(f"session {folder.path.name} is running in another process") from None
    except OSError as error:
        os.close(descriptor)
        raise UsageError(f"session {folder.path.name} cannot go on: {error.strerror}: {folder.lock}") from None
    return descriptor


_TRIES = 100
LARGE = ("scratch", "ray_cluster")
"""Folders of a run that live under `artifacts_dir`."""
PACKAGES = "pip-freeze.txt"
CONDA_PACKAGES = "conda-explicit.txt"
"""List of conda's packages; written only where there is conda."""


class Workspace:
    """The folders and files of one run. What is large lives under `artifacts_dir`, with a relative link to it here."""

    def __init__(self, session: Path, artifacts_dir: Path, run: Run, captured: Path) -> None:
        """`captured`: folder of the lists of what the session runs on."""
        self.session = session
        self.captured = captured
        self.folder = session / run.folder
        self.large = artifacts_dir / session.name / run.folder
        self.logs = self.folder / "logs"
        self.stdout = self.logs / "stdout.log"
        self.stderr = self.logs / "stderr.log"
        self.stand_ins = self.logs / "stand_ins.txt"
        self.combined = self.folder / OUTPUT_FILE
        self.results = self.folder / "benchmark_results"
        self.artifacts = self.folder / "artifacts"
        self.scratch = self.folder / "scratch"
        self.ray_cluster = self.folder / "ray_cluster"
        self.usage_csv = self.folder / USAGE_FILE
        self.gpu_stats = self.folder / "gpustats.csv"
        self.service_log = self.logs / "service.log"
        self.service_samples = self.logs / "service_usage.csv"
        """Samples from the start of the service to its end; `service_usage` is the part of one run."""
        self.service_usage = self.folder / "service_usage.csv"
        self.service_metrics = self.folder / "service_metrics.jsonl"

    def create(self) -> None:
        for folder in (self.logs, self.results, self.artifacts):
            folder.mkdir(parents=True, exist_ok=True)
        self._link(self.scratch)
        for name in (PACKAGES, CONDA_PACKAGES):
            self._copy_listing(self.captured / name)

    def keep_packages(self, listing: str) -> None:
        """Keeps the packages of the run's own interpreter, in place of the session's."""
        for name in (PACKAGES, CONDA_PACKAGES):
            (self.artifacts / name).unlink(missing_ok=True)  # it is the session's file under a second name
        write_atomic(self.artifacts / PACKAGES, listing)

    def _copy_listing(self, listing: Path) -> None:
        if not listing.is_file() or (self.artifacts / listing.name).exists():
            return
        try:
            os.link(listing, self.artifacts / listing.name)
        except OSError:
            write_atomic(self.artifacts / listing.name, listing.read_bytes())

    def make_ray_folder(self) -> Path:
        return self._link(self.ray_cluster)

    def placeholders(self) -> dict[str, str]:
        return {
            "session_entry_dir": str(self.folder),
            "session": str(self.folder),
            "scratch_dir": str(self.scratch),
            "benchmark_results_path": str(self.results),
            "artifacts_dir": str(self.artifacts),
        }

    def relative(self, path: Path) -> str:
        return os.path.relpath(path, self.session)

    def delete_scratch(self) -> None:
        self._unlink(self.scratch)

    def clear(self) -> None:
        """Removes what an earlier, interrupted execution left, so that it is not taken for this one's."""
        for path in (self.scratch, self.ray_cluster):
            self._unlink(path)
        for path in (self.logs, self.results, self.artifacts):
            _remove(path)
        for path in (self.combined, self.usage_csv, self.gpu_stats, self.service_usage, self.service_metrics):
            path.unlink(missing_ok=True)

    def _link(self, path: Path) -> Path:
        target = self.large / path.name
        _make(target)
        if not path.is_symlink():
            path.symlink_to(os.path.relpath(target.resolve(), path.parent.resolve()), target_is_directory=True)
        return target

    def _unlink(self, path: Path) -> None:
        _remove(self.large / path.name)
        _remove(path)
        for empty in (self.large, *self.large.parents):
            if empty == self.session.parent:
                break
            try:
                empty.rmdir()
            except OSError:  # in use, or another job has removed it
                break


def _remove(path: Path) -> None:
    """Remove a folder with all that is in it. A link in its place goes, not what it leads to."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def _make(folder: Path) -> None:
    """Makes a folder; tries again, since another job may remove an empty folder above it at any moment."""
    for _ in range(_TRIES):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return
        except (FileNotFoundError, FileExistsError):  # the latter if it was there and is gone again
            continue
    folder.mkdir(parents=True, exist_ok=True)


def remove_links(session: Path) -> None:
    """Removes the links of all runs; what they lead to stays."""
    for depth in ("*", "*/*", "*/*/*"):
        for name in LARGE:
            for path in session.glob(f"{depth}/{name}"):
                if path.is_symlink():
                    path.unlink()
