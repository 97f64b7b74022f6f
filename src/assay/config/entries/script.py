from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from assay.names import unknown

BUNDLED = Path(__file__).parents[2] / "benchmarks"


class ScriptNotFound(Exception):
    """Fails the entry that asks for it."""


@dataclass(frozen=True)
class Script:
    path: Path

    @classmethod
    def find(cls, name: str, base: str | None, config_folder: Path, is_setup: bool = False) -> Script:
        wanted = Path(name).expanduser()
        if wanted.is_absolute():
            places = [wanted]
        else:
            folders = [Path(base).expanduser()] if base else []
            beside = (["data_prep"] if is_setup else []) + ["scripts"]
            folders += [config_folder, *(config_folder / name for name in beside), BUNDLED]
            places = [folder / wanted for folder in folders]
        for place in places:
            if place.is_file():
                return cls(place.absolute())
        bundled = [path.name for path in BUNDLED.glob("*_benchmark.py")]
        raise ScriptNotFound(f"{unknown('script', name, sorted(bundled))}; looked at {', '.join(map(str, places))}")

    @property
    def is_bundled(self) -> bool:
        return self.path.is_relative_to(BUNDLED)

    def argv(self, interpreter: str | None) -> list[str]:
        if self.path.suffix == ".py" or interpreter:
            if self.is_bundled and not interpreter:
                module = ".".join(self.path.relative_to(BUNDLED).with_suffix("").parts)
                return [sys.executable, "-m", f"assay.benchmarks.{module}"]
            return [interpreter or sys.executable, str(self.path)]
        if not os.access(self.path, os.X_OK):
            raise ScriptNotFound(f"script {self.path} is not executable: chmod +x it, or give an `interpreter`")
        return [str(self.path)]
