"""pytest, and what failed once more, alone: `.ci/run` runs the tests with it.

Of thousands of tests on a busy machine, one that fails by chance would reject any change. It is named instead, in the
file `FAILED_ONCE`: what passes only at the second try is a defect of the test or of the code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

MOST = 20
"""More failures than these are no accident, and are not run again."""


def main(arguments: Sequence[str]) -> int:
    with TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments]
        code = subprocess.run(command, check=False).returncode
        failed = _failed(cache)
        if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= MOST:
            return code
        print(f"\nOnce more, alone, what failed: {len(failed)} of the tests", flush=True)
        code = subprocess.run([*command, "-n", "0", "--last-failed"], check=False).returncode
        failed_again = _failed(cache)
    with Path(os.environ["FAILED_ONCE"]).open("a", encoding="utf-8") as file:
        file.writelines(f"  {test}\n" for test in sorted(failed - failed_again))
    # A test that has gone in between was not run again.
    return code or (pytest.ExitCode.TESTS_FAILED if failed_again else pytest.ExitCode.OK)


def _failed(cache: str) -> set[str]:
    try:
        return set(json.loads((Path(cache) / "v/cache/lastfailed").read_text(encoding="utf-8")))
    except FileNotFoundError:
        return set()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
