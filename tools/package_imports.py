"""Check which package imports which against the table in docs/architecture.md."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import grimp

PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"
ALWAYS = {"compat", "errors", "exports", "files", "names"}
EVERY_OTHER = "every other package"
"""Words of the table that stand for all packages, except those named after them."""


def allowed(page: str) -> dict[str, set[str]]:
    """Return what each package may import: the `| `package/` | owns | may import |` rows of the page."""
    rows = re.findall(r"^\| `(\w+)/` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    packages = [package for package, _ in rows]
    may = {}
    for package, words in rows:
        named = set(re.findall(r"\w+", words)) & set(packages)
        may[package] = set(packages) - {package} - named if EVERY_OTHER in words else named
    return may


def imported() -> dict[str, set[str]]:
    """Return what each package imports, from the code."""
    graph = grimp.build_graph("assay", include_external_packages=False)
    arrows: dict[str, set[str]] = {}
    for module in graph.modules:
        parts = module.split(".")
        if len(parts) < 2:
            continue
        found = {name.split(".")[1] for name in graph.find_modules_directly_imported_by(module) if "." in name}
        arrows.setdefault(parts[1], set()).update(found - {parts[1]} - ALWAYS)
    return arrows


def violations(may: dict[str, set[str]], there: dict[str, set[str]]) -> list[str]:
    packages = set(may)
    return [
        f"{package} imports {other}"
        for package in may
        for other in sorted((there.get(package, set()) & packages) - may[package])
    ]


def main() -> int:
    wrong = violations(allowed(PAGE.read_text(encoding="utf-8")), imported())
    for line in wrong:
        print(f"{line}, which docs/architecture.md doesn't allow", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
