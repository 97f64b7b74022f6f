from __future__ import annotations

import os
import subprocess
import sys

import pytest

from assay.native import build
from assay.native.library import LEVELS, PATH, kernel, library


def test_the_library_is_there_and_made_from_these_sources() -> None:
    assert build.LIBRARY == PATH
    loaded = library()
    assert loaded is not None
    assert loaded.assay_sources().decode() == build.sources_digest(), "run: make setup"


@pytest.mark.parametrize(("limit", "level"), [("none", "none"), ("scalar", "scalar"), ("avx2", None), ("", None)])
def test_the_environment_can_forbid_levels(limit: str, level: str | None) -> None:
    program = "from assay.native.library import kernel; print(kernel())"
    environment = {**os.environ, "ASSAY_NATIVE": limit}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    used = done.stdout.split()[0]
    if level is not None:
        assert used == level
    elif limit in LEVELS:
        assert LEVELS.index(used) <= LEVELS.index(limit)
    else:
        assert done.stdout.strip() == kernel()
