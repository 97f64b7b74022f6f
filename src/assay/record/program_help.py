"""The help of a benchmark program, read from its source: its parameters are asked for only while it runs."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

_UNREAD = "(worked out by the program)"


@dataclass(frozen=True)
class AskedParameter:
    name: str
    default: str
    flag: bool

    @property
    def option(self) -> str:
        words = f"--{self.name.replace('_', '-')}"
        return words if self.flag else f"{words} {self.name.upper()}"


def program_help(path: Path) -> str | None:
    """None where no parameter is asked for by a name that stands in the source: the program may have its own help."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return None
    asked = _parameters(tree)
    if not asked:
        return None
    rows = [(one.option, f"default: {one.default}") for one in asked]
    rows.append(("--benchmark-results-path DIR", "where results go; without it they are printed"))
    width = max(len(option) for option, _ in rows)
    options = [f"  {option:{width}}  {words}" for option, words in rows]
    described = ast.get_docstring(tree)
    head = [f"usage: {path.name} [options]", "", *([described, ""] if described else []), "options:"]
    return "\n".join([*head, *options])


def _parameters(tree: ast.AST) -> list[AskedParameter]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    found: dict[str, AskedParameter] = {}
    for call in calls:
        named = {word.arg: word.value for word in call.keywords}
        name, default = [*call.args, None, None][:2]
        name, default = name or named.get("name"), default or named.get("default")
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "param" and default is not None):
            continue
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            found.setdefault(name.value, _parameter(name.value, default))
    return list(found.values())


def _parameter(name: str, default: ast.expr) -> AskedParameter:
    try:
        value = ast.literal_eval(default)
    except ValueError:
        return AskedParameter(name, _UNREAD, flag=False)
    return AskedParameter(name, str(value), flag=isinstance(value, bool))
