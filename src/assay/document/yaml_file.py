from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from assay.document.node import Mark, Node
from assay.errors import ConfigError

MAX_NODES = 500_000
"""Aliases can make a small file expand without end; no real configuration comes near this."""

_PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Node:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError([f"{path}: no such file"]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: cannot be read: {error}"]) from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, file: str) -> Node:
    """Only plain data: tags that would construct objects are refused by the safe loader."""
    try:
        loader = _LOADER(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return Node({}, Mark(file, 1, 1))
            builder = _Builder(loader, file, text)
            node = builder.build(root)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ConfigError([_message(error, file)]) from None
    if builder.problems:
        raise ConfigError(builder.problems)
    return node


class _Builder:
    def __init__(self, loader: Any, file: str, text: str) -> None:
        self._loader = loader
        self._file = file
        self._text = text
        self._left = MAX_NODES
        self._open: set[int] = set()
        self.problems: list[str] = []

    def build(self, node: Any, key: Mark | None = None) -> Node:
        self._left -= 1
        mark = self._mark(node)
        if self._left < 0:
            raise ConfigError([f"{mark}: aliases expand to more than {MAX_NODES:,} values"])
        if id(node) in self._open:
            raise ConfigError([f"{mark}: an alias contains itself"])
        if not isinstance(node, yaml.ScalarNode) and node.tag not in _PLAIN_TAGS:
            raise ConfigError([f"{mark}: the tag {node.tag!r} is not allowed: only plain data"])
        if isinstance(node, yaml.MappingNode):
            self._open.add(id(node))
            value: Any = self._mapping(node)
            self._open.discard(id(node))
        elif isinstance(node, yaml.SequenceNode):
            self._open.add(id(node))
            value = [self.build(item) for item in node.value]
            self._open.discard(id(node))
        else:
            value = self._loader.construct_object(node)
        anchored = self._text[node.start_mark.index : node.start_mark.index + 1] == "&"
        return Node(value, mark, key, anchored)

    def _mapping(self, node: Any) -> dict[str, Node]:
        seen: dict[str, Mark] = {}
        for child, _ in node.value:
            if not isinstance(child, yaml.ScalarNode):
                raise ConfigError([f"{self._mark(child)}: a key must be a plain word"])
            if child.value in seen and child.tag != "tag:yaml.org,2002:merge":
                first = seen[child.value]
                self.problems.append(
                    f"{self._mark(child)}: {child.value}: stands here twice, first in line {first.line}"
                )
            seen.setdefault(child.value, self._mark(child))
        self._loader.flatten_mapping(node)
        mapping: dict[str, Node] = {}
        for child, value in node.value:
            mapping[str(child.value)] = self.build(value, self._mark(child))
        return mapping

    def _mark(self, node: Any) -> Mark:
        return Mark(self._file, node.start_mark.line + 1, node.start_mark.column + 1)


def _message(error: yaml.YAMLError, file: str) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"{where}: {problem}"
