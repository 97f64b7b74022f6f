from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory


def keep_environment(folder: Path) -> None:
    """Keeps what results were measured on beside them, for who compares them later; for results that no session keeps.

    One file: the folders beside it are the program's.
    """
    from assay.capture.environment import capture_environment
    from assay.capture.packages import freeze
    from assay.record import SessionFolder

    try:
        with TemporaryDirectory() as lists:
            environment = capture_environment(Path.cwd(), Path(lists))
        known = environment.packages
        others = {name: version for name, version in freeze().items() if name.lower().replace("_", "-") not in known}
        SessionFolder(folder).write_environment(replace(environment, packages={**known, **others}))
    except OSError as error:
        print(f"assay: {folder / 'env.json'} could not be written: {error.strerror}", file=sys.stderr)
