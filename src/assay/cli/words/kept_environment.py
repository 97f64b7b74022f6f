from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory


def keep_environment(folder: Path) -> None:
    """Beside results that no session keeps: what they were measured on, for who compares them later.

    One file: the folders beside it are the program's.
    """
    from assay.capture.environment import capture_environment
    from assay.capture.packages import frozen
    from assay.record import SessionFolder

    try:
        with TemporaryDirectory() as lists:
            environment = capture_environment(Path.cwd(), Path(lists))
        known = environment.packages
        others = {name: version for name, version in frozen().items() if name.lower().replace("_", "-") not in known}
        SessionFolder(folder).write_environment(replace(environment, packages={**known, **others}))
    except OSError as error:
        print(f"assay: {folder / 'env.json'} could not be written: {error.strerror}", file=sys.stderr)
