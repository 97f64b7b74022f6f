"""`python -m tests.weights.golden.read_and_write`: reads every golden repository and stores its versions anew.

Prints what differs from the digests, and says by which processor's instructions it was done.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.weights.golden.__main__ import HERE, stored
from tests.weights.golden.cases import CASES
from tests.weights.golden.digests import digests_of
from tests.weights.golden.repository_text import restore

from assay.weights.codec.codec_methods import FORMAT
from assay.weights.migration import migrate
from assay.weights.repository import Repository

Digests = dict[str, dict[str, dict[str, str]]]


def formats() -> list[int]:
    return sorted(int(path.name.removeprefix("format-")) for path in HERE.glob("format-*"))


def expected(number: int) -> Digests:
    digests: Digests = json.loads((HERE / f"format-{number}" / "digests.json").read_text(encoding="ascii"))
    return digests


def read_anew(number: int, case: str, folder: Path) -> dict[str, dict[str, str]]:
    """Digests of what is read of a golden repository, brought to the present format first."""
    path = restore(HERE / f"format-{number}" / f"{case}.txt", folder / f"{number}-{case}")
    migrate(path)
    return digests_of(Repository.open(path))


def write_anew(case: str, folder: Path) -> dict[str, dict[str, str]]:
    """Digests of the versions of a golden repository, stored by this code on this processor."""
    (golden,) = (known for known in CASES if known.name == case)
    return digests_of(stored(golden, folder / f"new-{case}"))


def differences(found: dict[str, dict[str, str]], wanted: dict[str, dict[str, str]]) -> list[str]:
    return [
        f"{version}, {name}: {found.get(version, {}).get(name)} instead of {digest}"
        for version, tensors in wanted.items()
        for name, digest in tensors.items()
        if found.get(version, {}).get(name) != digest
    ]


def main() -> int:
    from numba.core.config import CPU_NAME

    problems = []
    with TemporaryDirectory() as scratch:
        for number in formats():
            for case, wanted in expected(number).items():
                problems += [
                    f"format {number}, {case}, {p}" for p in differences(read_anew(number, case, Path(scratch)), wanted)
                ]
        for case, wanted in expected(FORMAT).items():
            problems += [f"{case} stored anew, {p}" for p in differences(write_anew(case, Path(scratch)), wanted)]
    print("\n".join(problems))
    print(f"{len(problems)} differences by the instructions of a {CPU_NAME or 'host'} processor")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
