from __future__ import annotations

import os
from pathlib import Path


def results_folder(given: Path | str | None) -> Path:
    """Where session folders are: as given, otherwise $ASSAY_RESULTS_DIR, otherwise ./results."""
    return Path(given or os.environ.get("ASSAY_RESULTS_DIR") or "results")
