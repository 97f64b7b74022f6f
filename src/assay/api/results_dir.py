from __future__ import annotations

import os
from pathlib import Path

from assay.api.last_results_dir import USUAL, last_results_dir


def results_folder(given: Path | str | None) -> Path:
    """Where a command without YAML writes its session, and where sessions are deleted: as given, otherwise
    $ASSAY_RESULTS_DIR, otherwise ./results."""
    return Path(given or os.environ.get("ASSAY_RESULTS_DIR") or USUAL)


def sessions_folder(given: Path | str | None) -> Path:
    """Where sessions are looked for: the same, but before ./results where the last run from this folder wrote."""
    return Path(given or os.environ.get("ASSAY_RESULTS_DIR") or last_results_dir() or USUAL)
