from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path


def check_golden(path: Path, text: str) -> None:
    """`ASSAY_GOLDEN=write pytest …` writes the files anew; look at the difference before committing it."""
    if os.environ.get("ASSAY_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    expected = path.read_text(encoding="utf-8")
    lines = unified_diff(expected.splitlines(), text.splitlines(), path.name, "this time", n=2, lineterm="")
    assert text == expected, "\n".join(lines)
