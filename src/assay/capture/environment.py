from __future__ import annotations

import getpass
import platform
import socket
from pathlib import Path

from assay import __version__
from assay.capture import machine
from assay.capture.git import git_state
from assay.capture.packages import conda_list, frozen, key_packages
from assay.record import Environment


def capture_environment(folder: Path, artifacts: Path, reason: str | None = None) -> Environment:
    """What this session runs on. `folder` says which repository; lists too long to read go to `artifacts`."""
    installed = frozen()
    artifacts.mkdir(parents=True, exist_ok=True)
    listing = "".join(f"{name}=={version}\n" for name, version in installed.items())
    (artifacts / "pip-freeze.txt").write_text(listing, encoding="utf-8")
    conda = conda_list()
    if conda is not None:
        (artifacts / "conda-explicit.txt").write_text(conda, encoding="utf-8")
    git = git_state(folder)
    return Environment(
        host=socket.gethostname(),
        os=machine.os_name(),
        kernel=platform.release(),
        cpu_model=machine.cpu_model(),
        cores=machine.cores(),
        memory_mb=machine.memory_mb(),
        python=platform.python_version(),
        assay=__version__,
        git_commit=git.commit,
        git_branch=git.branch,
        git_dirty=git.dirty,
        container_image=machine.container_image(),
        gpus=machine.gpus(),
        gpu_driver=machine.gpu_driver(),
        packages=key_packages(installed),
        reason=reason,
        user=_user(),
    )


def _user() -> str | None:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return None
