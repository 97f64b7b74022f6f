from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from workplace import SOURCE, Answer

REPOSITORY = Path(SOURCE).parent
DIGEST = "sha256:4c5e"
_STAND_IN = """#!{python}
import json, os, sys
with open({calls!r}, "a") as calls:
    calls.write(json.dumps([sys.argv[1:], dict(os.environ)]) + "\\n")
words = sys.argv[1:]
if words[:2] == ["image", "inspect"]:
    if {missing}:
        sys.exit("Error: No such image")
    print({digest!r})
elif "plan" in words:
    os.environ["PYTHONPATH"] = {source!r}
    os.execv({python!r}, [{python!r}, "-m", "assay", *words[words.index("plan"):]])
"""


class RecordingDocker:
    """A user's host with bash, no GPU, and a `docker` that writes down how it is called.

    Asked for `assay plan` in the image, it runs Assay as the image would: there is no engine where tests run.
    """

    def __init__(self, folder: Path, missing: bool = False) -> None:
        self.folder = folder / "work"
        self.folder.mkdir(parents=True)
        self.calls = folder / "calls.jsonl"
        self._bin = folder / "bin"
        self._bin.mkdir()
        self.home = folder / "home"
        self.home.mkdir()
        self.environment = {"PATH": f"{self._bin}:/usr/bin:/bin", "HOME": str(self.home), "SHM_SIZE": "8g"}
        text = _STAND_IN.format(
            python=sys.executable, calls=str(self.calls), digest=DIGEST, source=SOURCE, missing=missing
        )
        self._program("docker", text)
        self._program("nvidia-smi", "#!/bin/sh\nexit 9\n")

    def install_assay(self) -> None:
        self._program("assay", f'#!/bin/sh\nPYTHONPATH={SOURCE} exec {sys.executable} -m assay "$@"\n')

    def install(self, name: str, text: str) -> None:
        self._program(name, text)

    def script(self, name: str, *words: str, **variables: str) -> Answer:
        done = subprocess.run(
            [REPOSITORY / "tools" / name, *words], cwd=self.folder, env={**self.environment, **variables},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    def lines(self) -> list[list[str]]:
        """The words of each call, without the program's name."""
        return [words for words, _ in self._calls()]

    def variables(self) -> dict[str, str]:
        """What the last call had in its environment."""
        found: dict[str, str] = self._calls()[-1][1]
        return found

    def caller(self) -> list[str]:
        groups = [str(group) for group in os.getgroups() if group != os.getgid()]
        more = [word for group in groups for word in ("--group-add", group)]
        return ["--user", f"{os.getuid()}:{os.getgid()}", *more]

    def _calls(self) -> list[tuple[list[str], dict[str, str]]]:
        return [tuple(json.loads(line)) for line in self.calls.read_text().splitlines()]

    def _program(self, name: str, text: str) -> None:
        path = self._bin / name
        path.write_text(text)
        path.chmod(0o755)
