"""Another Python than Assay's, asked what it is: by a few lines that it runs itself, standard library only."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.capture.packages import key_packages
from assay.errors import AssayError
from assay.record.surroundings.python_environment import PythonEnvironment

LIMIT_S = 60.0
_ASK = """
import json, platform
from importlib.metadata import distributions
found = {}
for one in distributions():
    name = one.metadata["Name"] if one.metadata is not None else None
    if name:
        found.setdefault(name, one.version)
print()
print(json.dumps({"python": platform.python_version(), "installed": found}))
"""


class InterpreterUnknown(AssayError):
    """It is there, but did not say what it is."""


@dataclass(frozen=True)
class AskedInterpreter:
    path: str
    python: str
    installed: Mapping[str, str]
    """Name → version of everything, in order of name."""

    @property
    def environment(self) -> PythonEnvironment:
        return PythonEnvironment(self.path, self.python, key_packages(dict(self.installed)))

    @property
    def listing(self) -> str:
        """Packages as `pip freeze` prints them."""
        return "".join(f"{name}=={version}\n" for name, version in self.installed.items())

    def has(self, package: str) -> bool:
        return any(name.lower().replace("_", "-") == package for name in self.installed)


def ask_interpreter(path: str, environment: Mapping[str, str], folder: Path) -> AskedInterpreter:
    """Asks a Python what it is and what is installed, in the environment and the folder that its program will have:
    both may add packages."""
    try:
        answer = subprocess.run(
            [path, "-c", _ASK], env=dict(environment), cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
            check=False, stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise AssayError(f"cannot start {path}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise InterpreterUnknown(f"{path} did not say within {LIMIT_S:g} s which Python it is") from None
    try:
        written = json.loads(answer.stdout.strip().rpartition("\n")[2])
        found = {str(name): str(version) for name, version in written["installed"].items()}
        ordered = dict(sorted(found.items(), key=lambda one: one[0].lower()))
        return AskedInterpreter(path, str(written["python"]), ordered)
    except (ValueError, TypeError, KeyError, AttributeError):
        last = answer.stderr.strip().rpartition("\n")[2]
        why = f"exit code {answer.returncode}" + (f": {last}" if last else "")
        raise InterpreterUnknown(f"{path} did not say which Python it is ({why})") from None
