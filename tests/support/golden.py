from __future__ import annotations

import os
from pathlib import Path


def check_golden(path: Path, text: str) -> None:
    """`ASSAY_GOLDEN=write pytest …` writes the files anew; look at the difference before committing it."""
    if os.environ.get("ASSAY_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
