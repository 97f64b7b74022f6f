"""The package's sources, parsed once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "src" / "assay"


@cache
def trees() -> dict[Path, ast.Module]:
    """Without `compat/path`, which answers for other frameworks' modules."""
    found = sorted(path for path in PACKAGE.rglob("*.py") if "compat/path" not in path.as_posix())
    return {path: ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in found}


def package(path: Path) -> str:
    """The folder of the package that a file is in; a file beside the folders is its own."""
    inside = path.relative_to(PACKAGE)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem
