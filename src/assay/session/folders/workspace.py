from __future__ import annotations

import os
import shutil
from pathlib import Path

from assay.session.run import Run
from assay.untrusted.writing import write_atomic

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
        self.combined = self.folder / "stdouterr.log"
        self.results = self.folder / "benchmark_results"
        self.artifacts = self.folder / "artifacts"
        self.scratch = self.folder / "scratch"
        self.ray_cluster = self.folder / "ray_cluster"
        self.usage_csv = self.folder / "usage.csv"
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
