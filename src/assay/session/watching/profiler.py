from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from assay.errors import MissingExtra


class Profiler:
    """Puts a profiler in front of a Python program; its output is linked from the record."""

    def __init__(self, kind: str, artifacts: Path) -> None:
        self.kind = kind
        self._artifacts = artifacts

    def wrap(self, argv: list[str]) -> list[str]:
        if self.kind == "py-spy":
            return [_program("py-spy"), "record", "--subprocesses", "--output", str(self.output), "--", *argv]
        module = "cProfile" if self.kind == "cprofile" else "memray"
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(module, "profile")
        run = ["cProfile", "-o", str(self.output)] if module == "cProfile" else ["memray", "run", "-o", str(self._raw)]
        interpreter, *program = argv
        return [interpreter, "-m", *run, *program]

    @property
    def output(self) -> Path:
        names = {"py-spy": "profile.svg", "cprofile": "profile.prof", "memray": "memray.html"}
        return self._artifacts / names[self.kind]

    def finish(self) -> Path | None:
        """What to show, once the run is over; None if the profiler left nothing."""
        if self.kind == "memray" and self._raw.is_file():
            command = [sys.executable, "-m", "memray", "flamegraph", "-f", "-o", str(self.output), str(self._raw)]
            subprocess.run(command, capture_output=True, check=False)
        return self.output if self.output.is_file() else None

    @property
    def _raw(self) -> Path:
        return self._artifacts / "memray.bin"


def _program(name: str) -> str:
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise MissingExtra(name, "profile")
    return found
