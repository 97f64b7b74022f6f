from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from assay.errors import DataError
from assay.record.joined.jobs import Jobs
from assay.record.record import Record
from assay.record.results_file import read_records
from assay.record.session_files.session_info import SessionInfo
from assay.record.surroundings.environment import Environment
from assay.record.writing.strict_json import encode, untag
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import SESSION
from assay.untrusted.unreadable import Unreadable
from assay.untrusted.writing import write_atomic


class SessionFolder:
    """A session on disk. Everything else (history, report) can be made anew from it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def own(self) -> Path:
        """Where the process that runs it keeps what is its alone."""
        return self.path

    @property
    def lock(self) -> Path | None:
        return self.path / ".lock"

    @property
    def results(self) -> Path:
        return self.path / "results.jsonl"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def log(self) -> Path:
        return self.path / "session.log"

    @staticmethod
    def is_one(path: Path) -> bool:
        """False, too, for what no file system could hold: such a name is nobody's session."""
        return os.path.isfile(path / "session.json")

    def info(self) -> SessionInfo:
        written = self._read("session.json")
        if "kind" not in written and (self.path / "comparison.json").is_file():
            written["kind"] = "ab"  # from before it was written down: only an A/B leaves that file
        try:
            info = SessionInfo.from_json(written)
        except DataError as error:
            raise Unreadable(self.path / "session.json", str(error)) from None
        if info.joined and info.status == "running":
            return replace(info, planned=Jobs(self.path).entries_planned())
        return info

    def write_info(self, info: SessionInfo) -> None:
        write_atomic(self.path / "session.json", encode(info.to_json(), indent=2))

    def environment(self) -> Environment:
        return self._environment("env.json")

    def _environment(self, name: str) -> Environment:
        try:
            return Environment.from_json(self._read(name))
        except Unreadable:
            raise
        except DataError as error:
            raise Unreadable(self.path / name, str(error)) from None

    def write_environment(self, environment: Environment) -> None:
        write_atomic(self.path / "env.json", encode(environment.to_json(), indent=2))

    def records(self) -> list[Record]:
        """Records in the order the runs ended. A run is there once, whatever was interrupted.

        Jobs that joined a session have a part each until one of them has put the parts together.
        """
        jobs = Jobs(self.path)
        if jobs.exist and not self.results.is_file():
            return jobs.records()
        by_run = {record.run_id: record for record in read_records(self.results)}
        return list(by_run.values())

    def _read(self, name: str) -> dict[str, object]:
        path = self.path / name
        try:
            written = read_json(path, SESSION, untag, own=True)
        except FileNotFoundError:
            raise DataError(f"{self.path} is not a session folder: it has no {name}") from None
        if not isinstance(written, dict):
            raise Unreadable(path, "is not a JSON object")
        return written
