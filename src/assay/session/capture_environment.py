"""Another Python than Assay's, asked what it is: by a few lines that it runs itself, standard library only."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from assay import __version__
from assay.errors import AssayError
from assay.files.writing import write_atomic
from assay.record import Environment, Fingerprint
from assay.record.environment import PythonEnvironment, digest
from assay.session import machine
from assay.session.machine import nvidia


@dataclass(frozen=True)
class GitState:
    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None


def git_state(folder: Path) -> GitState:
    """One call; nothing where there is no repository or no git."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), "status", "--porcelain=v2", "--branch", "--untracked-files=no"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return GitState()
    if answer.returncode:
        return GitState()
    headers = dict(
        line[2:].split(" ", 1) for line in answer.stdout.splitlines() if line.startswith("# ") and " " in line[2:]
    )
    commit = headers.get("branch.oid")
    changed = any(not line.startswith("# ") for line in answer.stdout.splitlines())
    return GitState(None if commit == "(initial)" else commit, headers.get("branch.head"), changed)


KEY = ("numpy", "ray", "torch", "pyarrow", "pandas", "transformers", "vllm", "nemo-curator", "cosmos-xenna", "numba")
"""Packages whose version decides the numbers; all of them are in pip-freeze.txt."""
_NAME = re.compile(r"^Name:[ \t]*(\S+)", re.MULTILINE)
_VERSION = re.compile(r"^Version:[ \t]*(\S+)", re.MULTILINE)


def freeze() -> dict[str, str]:
    """Name → version of everything installed. Read from metadata: starting pip would take a second of CPU."""
    found: dict[str, str] = {}
    for distribution in distributions():
        named = _read_name(distribution)
        if named is not None:
            found.setdefault(*named)
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def _read_name(distribution: Distribution) -> tuple[str, str] | None:
    """Name and version by the two lines that say them: parsed as mail, 250 packages take a tenth of a second."""
    head = (distribution.read_text("METADATA") or "").replace("\r\n", "\n").partition("\n\n")[0]
    name, version = _NAME.search(head), _VERSION.search(head)
    if name and version:
        return name[1], version[1]
    metadata = distribution.metadata
    return (metadata["Name"], distribution.version) if metadata is not None and metadata["Name"] else None


def key_packages(installed: dict[str, str]) -> dict[str, str]:
    lower = {name.lower().replace("_", "-"): version for name, version in installed.items()}
    return {name: lower[name] for name in KEY if name in lower}


def conda_list() -> str | None:
    """What `conda list --explicit` prints, where conda is."""
    conda = shutil.which("conda")
    if conda is None:
        return None
    try:
        answer = subprocess.run([conda, "list", "--explicit"], capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None


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


VERSION = "workload_version"
"""Key in params.json by which a program says itself when its work has changed."""


def fingerprint(
    entry: str,
    args: Sequence[str],
    settings: Mapping[str, Any],
    params: Mapping[str, Any],
    machine_class: str,
    folders: Sequence[str],
    version: str | None = None,
    project: str = "",
) -> Fingerprint:
    """`args` still hold their placeholders, and params that name a folder of this run are left out. `version`: what the
    configuration says of the workload; it goes before what the program says."""
    version = str(params[VERSION]) if version is None and VERSION in params else version
    lasting = {
        name: value
        for name, value in params.items()
        if name != VERSION and not any(folder in str(value) for folder in folders)
    }
    return Fingerprint(
        entry=entry,
        params=digest({"args": list(args), "settings": settings, "params": lasting}),
        workload="" if version is None else f"version {version}",
        machine=machine_class,
        project=project,
    )


_LARGEST_SCRIPT = 10_000_000


def script_digest(script: Path | None) -> str:
    """Empty where there is no script, or none that can be read."""
    try:
        if script is None or not script.is_file() or script.stat().st_size > _LARGEST_SCRIPT:
            return ""
        return hashlib.sha256(script.read_bytes()).hexdigest()[:12]
    except OSError:
        return ""


def capture_environment(
    folder: Path, artifacts: Path, reason: str | None = None, interpreter: str | None = None
) -> Environment:
    """What this session runs on. `folder` says which repository; lists too long to read go to `artifacts`.

    Version and packages are those of `interpreter`, where the session's entries have another one than Assay.
    """
    asked = _ask(interpreter)
    artifacts.mkdir(parents=True, exist_ok=True)
    write_atomic(artifacts / "pip-freeze.txt", asked.listing)
    conda = conda_list()
    if conda is not None:
        write_atomic(artifacts / "conda-explicit.txt", conda)
    git = git_state(folder)
    return Environment(
        host=machine.host_name(),
        os=machine.os_name(),
        kernel=platform.release(),
        cpu_model=machine.cpu_model(),
        cores=machine.cores(),
        memory_mb=machine.memory_mb(),
        python=asked.python,
        interpreter=interpreter,
        assay=__version__,
        git_commit=git.commit,
        git_branch=git.branch,
        git_dirty=git.dirty,
        container_image=machine.container_image(),
        gpus=machine.gpus(),
        gpu_driver=nvidia().driver,
        cuda=nvidia().cuda,
        packages=dict(asked.environment.packages),
        reason=reason,
        user=_user(),
    )


def _ask(interpreter: str | None) -> AskedInterpreter:
    """Nothing is known of one that does not answer: its entries fail with the reason."""
    if interpreter is None:
        return AskedInterpreter(sys.executable, platform.python_version(), freeze())
    try:
        return ask_interpreter(interpreter, os.environ, Path.cwd())
    except AssayError:
        return AskedInterpreter(interpreter, "", {})


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None
