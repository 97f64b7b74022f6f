from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

PYTHON = Path(__file__).parent.parent.parent / ".peers" / "contract" / "bin" / "python"


def other_python() -> str:
    """The interpreter of an environment with nemo-curator, another Ray than Assay's, and no Assay."""
    if not PYTHON.exists():
        pytest.fail("`make setup` makes .peers/contract, which this needs (make/contract.mk)")
    return str(PYTHON)


@cache
def other_python_version() -> str:
    code = "import platform; print(platform.python_version())"
    return subprocess.run([other_python(), "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@cache
def version_of(package: str) -> str:
    """What the other environment has."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([other_python(), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
