"""`python -m tests.weights.golden [CASE …]`: golden repositories of the present format, once, when the format is new.

Afterwards they stay as they are: what an older version of Assay wrote must be read for ever.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.weights.golden.cases import CASES, GoldenCase
from tests.weights.golden.digests import digests_of
from tests.weights.golden.repository_text import write_text

from assay.weights.codec.codec_methods import FORMAT
from assay.weights.repository import Repository

HERE = Path(__file__).parent


def stored(case: GoldenCase, folder: Path) -> Repository:
    repository = Repository.init(folder, {**case.config, "enable_gc": False})
    for number, tensors in enumerate(case.versions()):
        repository.commit(tensors, f"version {number}")
    return repository


def main() -> int:
    to = HERE / f"format-{FORMAT}"
    if to.exists():
        print(f"{to} is there already, and golden repositories do not change")
        return 2
    digests = {}
    with TemporaryDirectory() as scratch:
        for case in (case for case in CASES if case.name in (sys.argv[1:] or [case.name])):
            repository = stored(case, Path(scratch, case.name))
            write_text(repository.path, to / f"{case.name}.txt")
            digests[case.name] = digests_of(repository)
    (to / "digests.json").write_text(json.dumps(digests, indent=1, sort_keys=True) + "\n", encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
