"""Docstrings say first what they describe: nobody can tell from "Of a run." whether it is a name, a time or a share."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "bench", "peers", "tools")
IN_MID_SENTENCE = ("Of ", "As ", "In ", "Like ")


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of every bare string: of modules, classes and functions, and those after an assignment."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def test_every_kind_of_docstring_is_found() -> None:
    lines = (
        '"""A."""',
        "N = 1",
        '"""Of A."""',
        "class C:",
        ' """B."""',
        " def f(self):",
        "  self.n = 1",
        '  """In C."""',
    )
    written = "\n".join(lines)
    assert sorted(docstrings(ast.parse(written))) == [(1, "A."), (3, "Of A."), (5, "B."), (8, "In C.")]


def test_no_docstring_begins_in_mid_sentence() -> None:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    assert len(paths) > 500
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.lstrip().partition(chr(10))[0]}"
        for path in paths
        for line, text in docstrings(ast.parse(path.read_text(encoding="utf-8")))
        if text.lstrip().startswith(IN_MID_SENTENCE)
    ]
    assert found == [], "begin with the noun that is described, its unit, then the reason:\n" + "\n".join(found)
