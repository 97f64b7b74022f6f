from __future__ import annotations

import getpass
import os
import platform
import sys
from pathlib import Path

from assay import __version__
from assay.capture import machine
from assay.capture.git import git_state
from assay.capture.interpreter import AskedInterpreter, ask_interpreter
from assay.capture.nvidia import nvidia
from assay.capture.packages import conda_list, freeze
from assay.errors import AssayError
from assay.record import Environment
from assay.untrusted.writing import write_atomic


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
