from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from assay.document.yaml_node import Mark, YamlNode
from assay.errors import ConfigError, UsageError
from assay.names import unknown


def apply_override(root: YamlNode, text: str) -> YamlNode:
    """`--set entries.NAME.timeout_s=60`: the value is YAML; items of lists are named by their name or number."""
    from assay.document.yaml_file import parse_yaml  # A plan that no file says is made without yaml.

    key, equals, written = text.partition("=")
    steps = key.split(".")
    if not equals or not all(steps):
        raise UsageError(f"--set {text}: write key=value, for example --set default_timeout_s=60")
    try:
        value = parse_yaml(written, "--set").plain() if written else ""
    except ConfigError as error:
        raise UsageError(f"--set {text}: {error}") from None
    return _set(root, steps, YamlNode.of(value, Mark("--set", 1, 1)), text)


def _set(node: YamlNode, steps: list[str], value: YamlNode, text: str) -> YamlNode:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if node.is_list:
        items = list(node.value)
        at = _index(items, step)
        if at is None:
            known = [str(next(iter(_identities(item)), number)) for number, item in enumerate(items)]
            raise UsageError(f"--set {text}: {unknown('item', step, known)}")
        items[at] = _set(items[at], rest, value, text)
        return YamlNode(items, node.mark, node.key)
    children = dict(node.value) if node.is_mapping else {}
    children[step] = _set(children.get(step, YamlNode({}, value.mark)), rest, value, text)
    return YamlNode(children, node.mark, node.key)


def _index(items: list[YamlNode], step: str) -> int | None:
    for at, item in enumerate(items):
        if step in _identities(item):
            return at
    return int(step) if step.isdigit() and int(step) < len(items) else None


def _identities(item: YamlNode) -> list[object]:
    named = (item.get(identity) for identity in ("name", "metric", "type"))
    return [name.value for name in named if name is not None]


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
