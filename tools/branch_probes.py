"""Probes at the branches of a file: each is one store into a list, so that measuring costs next to nothing.

A branch is where a file's code can go or not: a function's body, both ways of an `if`, a loop's body and its end, an
`except`, a `case`. What follows in the same block is reached with it. Before Python 3.12 a tracer slows every
instruction of the process, the libraries' too; a probe costs a few nanoseconds where it stands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from types import CodeType
from typing import TypeVar

REACHED = "_branches_reached"
COMPILED = re.compile(r"^\s*(?:from|import) (?:numba|llvmlite)\b", re.MULTILINE)
"""Files whose functions numba compiles: it would meet the probes, and what runs is not this code."""
DECLARED = {"abstractmethod", "overload"}
Loop = TypeVar("Loop", ast.For, ast.AsyncFor, ast.While)
Function = TypeVar("Function", ast.FunctionDef, ast.AsyncFunctionDef)


class BranchProbes(ast.NodeTransformer):
    """`lines` has the line of each probe, in the order of their numbers."""

    def __init__(self) -> None:
        self.lines: list[int] = []

    def probed(self, source: bytes, path: str) -> CodeType:
        return compile(ast.fix_missing_locations(self.visit(ast.parse(source, path))), path, "exec", dont_inherit=True)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return self._function(node)

    def visit_If(self, node: ast.If) -> ast.If:
        if ast.unparse(node.test).endswith("TYPE_CHECKING"):
            return node
        node.body = self._block(node.body, node.lineno)
        node.orelse = self._block(node.orelse, node.lineno)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        return self._loop(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AsyncFor:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.While:
        if isinstance(node.test, ast.Constant):  # It ends by `break` or not at all.
            node.body = self._block(node.body, node.lineno)
            return node
        return self._loop(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        node.body = self._block(node.body, node.lineno)
        return node

    def visit_Match(self, node: ast.Match) -> ast.Match:
        for case in node.cases:
            case.body = self._block(case.body, case.pattern.lineno)
        last = node.cases[-1]
        if last.guard is not None or not isinstance(last.pattern, ast.MatchAs) or last.pattern.pattern is not None:
            node.cases.append(ast.match_case(ast.MatchAs(), body=self._block([], node.lineno)))
        return node

    def _function(self, node: Function) -> Function:
        named = {name.id for name in ast.walk(ast.List(node.decorator_list, ast.Load())) if isinstance(name, ast.Name)}
        first = 0 if ast.get_docstring(node, clean=False) is None else 1
        statements: list[ast.stmt] = node.body[first:]
        if not named & DECLARED and not all(map(_is_empty, statements)):
            node.body[first:] = self._block(statements, node.lineno)
        return node

    def _loop(self, node: Loop) -> Loop:
        node.body = self._block(node.body, node.lineno)
        node.orelse = self._block(node.orelse, node.lineno)
        return node

    def _block(self, body: Sequence[ast.stmt], line: int) -> list[ast.stmt]:
        line = body[0].lineno if body else line
        probe = ast.parse(f"{REACHED}[{len(self.lines)}] = 1").body[0]
        for node in ast.walk(probe):
            ast.copy_location(node, ast.Constant(0, lineno=line, end_lineno=line, col_offset=0, end_col_offset=0))
        self.lines.append(line)
        return [probe, *(self.visit(statement) for statement in body)]


def _is_empty(statement: ast.stmt) -> bool:
    """Whether it only says that there is nothing here: `...`, `pass`, `raise NotImplementedError`."""
    match statement:
        case ast.Pass() | ast.Expr(ast.Constant()):
            return True
        case ast.Raise(exc=ast.Name("NotImplementedError") | ast.Call(func=ast.Name("NotImplementedError"))):
            return True
    return False


def is_measured(source: str) -> bool:
    return not COMPILED.search(source)


def branches(source: str) -> list[int]:
    """Lines of a file's branches."""
    probes = BranchProbes()
    probes.visit(ast.parse(source))
    return probes.lines
