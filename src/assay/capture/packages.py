from __future__ import annotations

import re
import shutil
import subprocess
from importlib.metadata import Distribution, distributions

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
