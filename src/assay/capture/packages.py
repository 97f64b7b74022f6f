from __future__ import annotations

import shutil
import subprocess
from importlib.metadata import distributions

KEY = ("numpy", "ray", "torch", "pyarrow", "pandas", "transformers", "vllm", "nemo-curator", "cosmos-xenna", "numba")
"""Packages whose version decides the numbers; all of them are in pip-freeze.txt."""


def frozen() -> dict[str, str]:
    """Name → version of everything installed. Read from metadata: starting pip would take a second of CPU."""
    found: dict[str, str] = {}
    for distribution in distributions():
        metadata = distribution.metadata
        name = metadata["Name"] if metadata is not None else None
        if name:
            found.setdefault(name, distribution.version)
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


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
