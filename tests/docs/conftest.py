from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from doc_block import ROOT
from workplace import Workplace

Prepare = Callable[[Path], None]
SESSION = """\
sinks:
  - {name: csv}
entries:
  - name: sort
    script: test_benchmark.py
    args: --iterations 3
    repeat: 6
    metrics: {iterations_per_s: {unit: rows/s}}
"""


@pytest.fixture(scope="session")
def measured_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder with two sessions of one entry, which pages that look at results begin with."""
    place = Workplace(tmp_path_factory.mktemp("measured"))
    place.write("assay.yaml", SESSION)
    for _ in range(2):
        answer = place.assay("run", "--config", "assay.yaml")
        assert answer.code in (0, 3), answer.out + answer.err
    return place.folder


@pytest.fixture
def prepared(measured_once: Path) -> dict[str, Prepare]:
    """What `<!-- with: … -->` above a block may ask for."""

    def put(source: Path) -> Prepare:
        return lambda folder: shutil.copytree(source, folder, dirs_exist_ok=True) and None

    return {
        "measured": put(measured_once),
        "examples": lambda folder: put(ROOT / "examples")(folder / "examples"),
    }
