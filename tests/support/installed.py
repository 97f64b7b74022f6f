"""The package as a user has it: built, and its wheel put into an environment that holds the core alone."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

from workplace import Answer

ROOT = Path(__file__).parent.parent.parent
UV = Path(sys.executable).parent / "uv"


class Installed:
    """`dist/` with sdist and wheel, `venv/` with the wheel; made once, by whichever process comes first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "venv" / "bin" / "python"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "made").exists():
                self._make()
                (folder / "made").touch()

    def _make(self) -> None:
        self._uv("build", "--out-dir", str(self.folder / "dist"), str(ROOT))
        self._uv("venv", "--python", sys.executable, str(self.folder / "venv"))
        core = str(ROOT / "requirements" / "core.txt")
        self._uv("pip", "install", "--python", str(self.python), "--require-hashes", "-r", core)
        self._uv("pip", "install", "--python", str(self.python), "--no-deps", str(self.wheel))

    @property
    def sdist(self) -> Path:
        return next((self.folder / "dist").glob("*.tar.gz"))

    @property
    def wheel(self) -> Path:
        return next((self.folder / "dist").glob("*.whl"))

    @property
    def site_packages(self) -> Path:
        return next((self.folder / "venv" / "lib").glob("python3.*/site-packages"))

    def packages(self) -> list[str]:
        listed = self._uv("pip", "list", "--python", str(self.python), "--format", "json")
        return [package["name"] for package in json.loads(listed)]

    def assay(self, *words: str, folder: Path, **variables: str) -> Answer:
        """The command, in a folder of the user's; nothing of the repository is on the path."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        command = [str(self.python.parent / "assay"), *words]
        done = subprocess.run(
            command, cwd=folder, env={**own, **variables}, capture_output=True, text=True, check=False, timeout=240
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def _uv(self, *words: str) -> str:
        done = subprocess.run([str(UV), *words], capture_output=True, text=True, check=False, timeout=240)
        assert done.returncode == 0, done.stderr
        return done.stdout
