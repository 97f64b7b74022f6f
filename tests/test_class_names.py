"""A class name means one thing in the whole product, and the glossary names only classes that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
GLOSSARY = ROOT / "docs" / "glossary.md"


@cache
def places() -> dict[str, list[str]]:
    """Public class names → `path:line` of each definition, classes inside classes and functions too."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


def test_no_class_name_is_used_for_two_things() -> None:
    twice = [f"{name}: {', '.join(where)}" for name, where in sorted(places().items()) if len(where) > 1]
    assert not twice, "give one of each a name that says what it is:\n" + "\n".join(twice)


def test_the_classes_that_the_glossary_names_exist() -> None:
    named = set(re.findall(r"`([A-Z][A-Za-z]+)`", GLOSSARY.read_text(encoding="utf-8")))
    assert named, "no class in backticks found"
    assert sorted(named - places().keys()) == []
