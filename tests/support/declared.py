"""What pyproject.toml says of dependencies, and which files they are for."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

from third_party import canonical

ROOT = Path(__file__).parent.parent.parent
SUMS = {"all", "lock"}
"""Extras that are nothing but other extras."""


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def core() -> set[str]:
    return {canonical(line) for line in project()["project"]["dependencies"]}


def extras() -> dict[str, list[str]]:
    found: dict[str, list[str]] = project()["project"]["optional-dependencies"]
    return found


def own(extra: str) -> set[str]:
    return {canonical(line) for line in extras()[extra] if not line.startswith("assay-bench[")}


def included(extra: str) -> set[str]:
    """The extra itself and those it is made of."""
    found = {extra}
    for line in extras()[extra]:
        if inner := re.fullmatch(r"assay-bench\[(.*)\]", line):
            for name in inner.group(1).split(","):
                found |= included(name.strip())
    return found


def whole(extra: str) -> set[str]:
    return set().union(*(own(name) for name in included(extra)))


def patterns() -> dict[str, list[str]]:
    found: dict[str, list[str]] = project()["tool"]["assay"]["extras"]
    return found


def not_imported() -> dict[str, str]:
    found: dict[str, str] = project()["tool"]["assay"]["not-imported"]
    return found


def elsewhere() -> dict[str, str]:
    found: dict[str, str] = project()["tool"]["assay"]["elsewhere"]
    return found


def files() -> list[str]:
    """Every source file that our own interpreter runs."""
    found = (path for top in ("src", "tests", "bench", "peers", "tools") for path in (ROOT / top).rglob("*.py"))
    return sorted({path.relative_to(ROOT).as_posix() for path in found} - set(elsewhere()))


def extras_of(file: str) -> set[str]:
    return {extra for extra, shapes in patterns().items() if any(fnmatch(file, shape) for shape in shapes)}
