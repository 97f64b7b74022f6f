"""What a companion prints is masked in its log, from its first byte until the run is over."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from test_supervised import run

from assay.process.spec import CompanionSpec

MASK = ((b"s3cr3t-value", b"***TOKEN***"),)
PRINTS = """
import sys, time
print("before s3cr3t-value", flush=True)
print("READY", flush=True)
sys.stderr.write("half: s3cr3t")
sys.stderr.flush()
time.sleep(0.3)
print("-value", file=sys.stderr, flush=True)
open("printed", "w").write("all")
time.sleep(60)
"""


def _companion(folder: Path, code: str) -> CompanionSpec:
    argv = [sys.executable, "-c", code]
    return CompanionSpec("service", argv, dict(os.environ), folder, folder / "log", ready="READY", attempts=1)


def test_secrets_of_a_companion_are_masked_while_it_starts_and_while_the_program_runs(tmp_path: Path) -> None:
    waits = ["sh", "-c", "until test -e printed; do sleep 0.05; done"]
    assert run(tmp_path, waits, companion=_companion(tmp_path, PRINTS), mask=MASK).returncode == 0
    said = (tmp_path / "log").read_text().splitlines()[-3:]
    assert said == ["before ***TOKEN***", "READY", "half: ***TOKEN***"]


def test_what_a_companion_that_fails_has_said_is_in_its_log(tmp_path: Path) -> None:
    failing = _companion(tmp_path, "import sys; sys.exit('no s3cr3t-value')")
    result = run(tmp_path, ["true"], companion=failing, mask=MASK)
    assert "ended with 1 while starting" in result.failure
    assert (tmp_path / "log").read_text().splitlines()[-1] == "no ***TOKEN***"


def test_a_companion_that_prints_without_end_holds_up_nobody(tmp_path: Path) -> None:
    prints = "print('READY', flush=True)\nwhile True: print('x' * 1000)"
    result = run(tmp_path, ["sleep", "0.5"], companion=_companion(tmp_path, prints), mask=MASK, timeout_s=60)
    assert (result.returncode, result.ended_because) == (0, "")
