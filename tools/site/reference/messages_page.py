"""Every message of an error that a user can cause, found in the syntax trees: raised or built, in whatever form."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tools.site.reference.markdown import cell, page, prose, table
from tools.site.reference.sources import package, trees

SUMMARY = (
    "Every message of an error that you can cause, by the part of Assay that says it. `‹…›` stands for what it names: "
    "a file, a key, a value. All of them end with exit code 2 unless the run itself failed. "
    "[Troubleshooting](../troubleshooting.md) explains the usual ones and what to do."
)
OF_USERS = {"ValueError"}
"""Classes of the standard library whose messages reach a user through a configuration's place."""
CONFIGURED = ("config", "loadgen", "benchmarks", "sinks", "document")
"""Packages in which that is so."""
UNKNOWN = "unknown"
"""`names.unknown`, which words every name that is not known."""
LEAST_LETTERS = 8
_CALLS = {"str", "repr", "len", "listed", "quoted", "self", "f", "join", "map"}
"""Words of an expression that say nothing of what stands there."""


@dataclass(frozen=True, order=True)
class Message:
    package: str
    text: str
    """`‹name›` stands for a value."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Pattern of the message as printed; without the part about a similar name, which is there only if there is
        one."""
        text = self.text.partition("; did you mean ‹")[0]
        return re.compile(".*".join(map(re.escape, re.split(r"‹[^›]*›", text))), re.DOTALL)


def messages_page() -> str:
    return page("Messages", SUMMARY, _parts())


def _parts() -> Iterator[str]:
    found = messages()
    for name in sorted({message.package for message in found}):
        yield f"## {name}"
        yield table(["message"], [[prose(cell(message.text))] for message in found if message.package == name])


@cache
def messages() -> tuple[Message, ...]:
    found = {
        Message(package(path), text)
        for path, tree in trees().items()
        for node in ast.walk(tree)
        for text in _spoken(node, package(path))
        if len(re.sub(r"‹[^›]*›|\W", "", text)) >= LEAST_LETTERS
    }
    return tuple(sorted(found))


def _spoken(node: ast.AST, where: str) -> Iterator[str]:
    """An error that is made, or a problem that is added to a list of them."""
    match node:
        case ast.Call() if _says(node, error_names(), where):
            yield from _texts(node)
        case ast.Call(func=ast.Attribute(attr="append"), args=[said]) if "problem" in ast.unparse(node.func):
            yield from _said(said)
        case ast.AugAssign(target=target, value=said) if "problem" in ast.unparse(target):
            yield from _said(said)
        case ast.Yield(value=ast.Tuple(elts=[*_, said])) if where in CONFIGURED:
            yield from _said(said)


@cache
def error_names() -> frozenset[str]:
    """`AssayError` and everything that inherits from it, by name."""
    bases = {
        node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases}
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"AssayError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return frozenset(found)


def _says(call: ast.Call, names: frozenset[str], where: str) -> bool:
    called = ast.unparse(call.func).rpartition(".")[2]
    return bool(call.args) and (called in names or called == UNKNOWN or (called in OF_USERS and where in CONFIGURED))


def _texts(call: ast.Call) -> Iterator[str]:
    """All forms of the message: of an `if` both, of a list each."""
    if ast.unparse(call.func).endswith("MissingExtra"):
        what = next(_said(call.args[0]), "‹what›")
        yield f"{what} is not installed. Install it with: pip install 'assay-bench[‹extra›]'"
        return
    if ast.unparse(call.func).endswith(UNKNOWN):
        yield from (f"unknown {kind} ‹name›; did you mean ‹another›? (known: ‹names›)" for kind in _said(call.args[0]))
        return
    yield from _said(call.args[0])


def _said(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(_piece(value) for value in values)
        case ast.IfExp(body=body, orelse=other):
            yield from _said(body)
            yield from _said(other)
        case ast.List(elts=items):
            for item in items:
                yield from _said(item)
        case ast.ListComp(elt=item):
            yield from _said(item)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from (f"{one}{other}" for one in _or_value(left) for other in _or_value(right))


def _or_value(node: ast.expr) -> list[str]:
    return list(_said(node)) or [_named(node)]


def _piece(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else _named(value)


def _named(value: ast.expr) -> str:
    """What stands in a message: the last word of the expression, which names it best."""
    inner = value.value if isinstance(value, ast.FormattedValue) else value
    words = re.findall(r"[A-Za-z_]\w*", re.sub(r"'[^']*'|\"[^\"]*\"", "", ast.unparse(inner)))
    known = [word for word in words if word not in _CALLS]
    return f"‹{(known or ['…'])[-1].strip('_').replace('_', ' ')}›"
