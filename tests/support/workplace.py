from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from assay.record import Record, SessionFolder

SOURCE = str(Path(__file__).parent.parent.parent / "src")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


class Workplace:
    """A folder of a user, with the command as a user runs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PYTHONPATH": SOURCE, "COLUMNS": "200"}

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "assay", *words]

    def assay(self, *words: str, **variables: str) -> Answer:
        done = subprocess.run(
            self.argv(*words),
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert "Traceback (most recent call last)" not in done.stderr, done.stderr
        return Answer(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.argv(*words),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def sessions(self, results: str = "results") -> list[SessionFolder]:
        found = [SessionFolder(path.parent) for path in (self.folder / results).glob("*/session.json")]
        return sorted(found, key=lambda folder: folder.info().started_at)

    def records(self) -> dict[str, Record]:
        """Records of the newest session, by entry."""
        return {record.name: record for record in self.sessions()[-1].records()}
