"""What fuzzing found, and the inputs that it begins with: replayed under the sanitizers, and against plain Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.native.fuzz import targets
from tests.native.fuzz.mutants import mutants
from tests.native.fuzz.sanitized import CHECKS, QUIET, replayer, sanitized_library

from assay.native import build

MUTANTS = 300


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sanitized_library(tmp_path_factory.mktemp("sanitized"))


def inputs(name: str) -> list[bytes]:
    target = targets.load(name)
    return [*(data for _, data in target.replayed()), *target.seeds()]


def test_there_are_targets_and_not_too_many() -> None:
    assert 1 <= len(targets.NAMES) <= 6
    kept = {path.name for path in (Path(__file__).parent / "fuzz" / "found").iterdir()}
    assert kept <= set(targets.NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", targets.NAMES)
def test_the_library_reads_it_without_a_fault(name: str, library: Path, tmp_path: Path) -> None:
    program = replayer(targets.load(name), library)
    files = []
    for number, data in enumerate(inputs(name)):
        files.append(tmp_path / str(number))
        files[-1].write_bytes(data)
    done = subprocess.run([program, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("name", targets.NAMES)
def test_the_library_and_plain_python_say_the_same(name: str) -> None:
    import random

    target, known = targets.load(name), inputs(name)
    some = mutants(known, [word.encode("latin-1") for word in target.words], random.Random(5))
    for data in [*known, *(next(some) for _ in range(MUTANTS))]:
        assert target.difference(data) is None, data.hex()


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["data[size]", "(size << 62) * (int64_t)2", "((int *)(data + 1))[0]"])
def test_the_sanitizers_see_what_they_are_for(wrong: str, tmp_path: Path) -> None:
    """A byte beyond the input, a sum that overflows, a pointer that is not aligned."""
    source, program, data = tmp_path / "wrong.c", tmp_path / "wrong", tmp_path / "input"
    source.write_text(
        "#include <stddef.h>\n#include <stdint.h>\nvolatile int64_t kept;\n"
        f"int LLVMFuzzerTestOneInput(const uint8_t *data, int64_t size) {{ kept = {wrong}; return 0; }}\n"
    )
    data.write_bytes(b"twelve bytes")
    replay = str(Path(__file__).parent / "fuzz" / "replay.c")
    command = [str(build.compiler()), *CHECKS, *QUIET, "-std=gnu11", str(source), replay, "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([program, data], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Sanitizer" in done.stderr or "runtime error" in done.stderr
