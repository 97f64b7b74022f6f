"""Golden repositories: what an older version wrote is read byte for byte, and the encoder writes what it wrote."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.weights.golden.__main__ import HERE
from tests.weights.golden.cases import CASES
from tests.weights.golden.read_and_write import differences, expected, formats, read_anew, write_anew
from tests.weights.golden.repository_text import restore
from tests.weights.golden.stream_kinds import FIVE, kinds_of

from assay.weights.codec.codec_methods import FORMAT
from assay.weights.element_types import ELEMENT_TYPES
from assay.weights.repository import Repository

ROOT = Path(__file__).parents[2]


def test_the_present_format_and_each_that_can_be_migrated_has_golden_repositories():
    from assay.weights.repository_config import MIGRATIONS

    assert formats() == sorted({*MIGRATIONS, FORMAT})
    assert {case.name for case in CASES} == set(expected(FORMAT))


@pytest.mark.parametrize(("number", "case"), [(number, case) for number in formats() for case in expected(number)])
def test_a_golden_repository_is_read_byte_for_byte(number, case, tmp_path):
    assert differences(read_anew(number, case, tmp_path), expected(number)[case]) == []


@pytest.mark.parametrize("case", list(expected(FORMAT)))
def test_the_encoder_writes_what_it_has_always_written(case, tmp_path):
    found = differences(write_anew(case, tmp_path), expected(FORMAT)[case])
    assert found == [], "other bytes than before: if that is meant, and is still format 5, say so in docs/weights.md"


def test_the_golden_repositories_have_every_kind_of_chunk_and_dtype(tmp_path):
    kinds, dtypes = set(), set()
    for case in CASES:
        repository = Repository.open(restore(HERE / f"format-{FORMAT}" / f"{case.name}.txt", tmp_path / case.name))
        kinds |= kinds_of(repository)
        dtypes |= {record.kind.name for record in repository.objects.records()}
    assert kinds == FIVE
    assert dtypes == set(ELEMENT_TYPES)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_processor_without_vector_instructions_reads_and_writes_the_same(tmp_path):
    """Its code is compiled for this test alone: without optimisation, which takes less time."""
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_OPT": "0",
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
    }
    program = [sys.executable, "-m", "tests.weights.golden.read_and_write"]
    done = subprocess.run(program, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "0 differences by the instructions of a generic processor", done.stdout + done.stderr
