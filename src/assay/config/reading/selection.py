from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from assay.errors import UsageError

_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")
Matches = Callable[[str], bool]


class Selection:
    """`--entries 'alm and not (slow* or ray)'`: words with `*`, `?` or `[` match whole names, others a part of one."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._tokens = _TOKEN.findall(expression)
        self._at = 0
        self._matches = self._or()
        if self._at != len(self._tokens):
            raise self._error(f"unexpected {self._tokens[self._at]!r}")

    def __call__(self, name: str) -> bool:
        return self._matches(name)

    def _or(self) -> Matches:
        parts = [self._and()]
        while self._next("or"):
            parts.append(self._and())
        return lambda name: any(part(name) for part in parts)

    def _and(self) -> Matches:
        parts = [self._not()]
        while self._next("and"):
            parts.append(self._not())
        return lambda name: all(part(name) for part in parts)

    def _not(self) -> Matches:
        if self._next("not"):
            inner = self._not()
            return lambda name: not inner(name)
        if self._next("("):
            inner = self._or()
            if not self._next(")"):
                raise self._error("a bracket is not closed")
            return inner
        if self._at == len(self._tokens) or self._tokens[self._at] in ("and", "or", ")"):
            raise self._error("a name is missing")
        word = self._tokens[self._at]
        self._at += 1
        if any(sign in word for sign in "*?["):
            return lambda name: fnmatchcase(name, word)
        return lambda name: word in name

    def _next(self, word: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == word:
            self._at += 1
            return True
        return False

    def _error(self, what: str) -> UsageError:
        return UsageError(f"--entries {self.expression!r}: {what}; write for example 'alm and not (slow* or ray)'")
