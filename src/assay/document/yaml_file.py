"""How deep a YAML text is nested, known before anything recurses into it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from assay.document.sentences import broken_yaml
from assay.document.yaml_node import Mark, YamlNode, read_config
from assay.errors import ConfigError
from assay.names import quote

DEEPEST = 100
_INDENTED = re.compile(r"^[ \-?:]+", re.MULTILINE)


def too_deep(text: str, file: str, loader: Any) -> Mark | None:
    """Where more than `DEEPEST` levels are open; None if nowhere. Raises what the parser raises.

    A level takes a bracket, or begins further right than the one around it (a list may begin where its key does). Few
    files could be that deep by this count; only of those the parser's events, which do not recurse, are counted.
    """
    indented = max((len(found[0]) for found in _INDENTED.finditer(text)), default=0)
    if text.count("[") + text.count("{") + 2 * indented < DEEPEST:
        return None
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                at: Any = event.start_mark
                return Mark(file, at.line + 1, at.column + 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return None


MAX_NODES = 500_000
"""Aliases can make a small file expand without end; no real configuration comes near this."""

_MOST_BITS = 1024
"""Most bits of a whole number: more than any quantity needs, and few enough to be printed."""
_PLAIN_TAGS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> YamlNode:
    return parse_yaml(read_config(path), str(path))


def parse_yaml(text: str, file: str) -> YamlNode:
    """Only plain data: tags that would construct objects are refused by the safe loader."""
    try:
        if deep := too_deep(text, file, _LOADER):
            raise ConfigError([f"{deep}: is nested deeper than {DEEPEST} levels"])
        loader = _LOADER(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return YamlNode({}, Mark(file, 1, 1))
            builder = _Builder(loader, file, text)
            node = builder.build(root)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ConfigError([_message(error, file, text)]) from None
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
        self._known_pairs: dict[int, dict[str, tuple[Any, Any]]] = {}
        self.problems: list[str] = []

    def build(self, node: Any, key: Mark | None = None) -> YamlNode:
        self._left -= 1
        mark = self._mark(node)
        if self._left < 0:
            raise ConfigError([f"{mark}: aliases expand to more than {MAX_NODES:,} values"])
        if id(node) in self._open:
            raise ConfigError([f"{mark}: an alias contains itself"])
        if len(self._open) >= DEEPEST:
            raise ConfigError([f"{mark}: is nested deeper than {DEEPEST} levels"])
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
            value = self._scalar(node, mark)
        anchored = self._text[node.start_mark.index : node.start_mark.index + 1] == "&"
        return YamlNode(value, mark, key, anchored)

    def _mapping(self, node: Any) -> dict[str, YamlNode]:
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
        pairs = self._pairs(node)
        return {name: self.build(value, self._mark(child)) for name, (child, value) in pairs.items()}

    def _pairs(self, node: Any, depth: int = 0) -> dict[str, tuple[Any, Any]]:
        """Name → key and value, with what `<<` brings in before the mapping's own. Each mapping is looked at once:
        a few lines merged into each other could otherwise hold more pairs than there is memory."""
        if id(node) in self._known_pairs:
            return self._known_pairs[id(node)]
        if depth > DEEPEST:
            raise ConfigError([f"{self._mark(node)}: merges (`<<`) more than {DEEPEST} mappings into each other"])
        merged: dict[str, tuple[Any, Any]] = {}
        own: dict[str, tuple[Any, Any]] = {}
        for child, value in node.value:
            if not isinstance(child, yaml.ScalarNode):
                raise ConfigError([f"{self._mark(child)}: a key must be a plain word"])
            if child.tag != "tag:yaml.org,2002:merge":
                own[str(child.value)] = child, value
                continue
            for other in reversed(value.value) if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(other, yaml.MappingNode):
                    raise ConfigError([f"{self._mark(other)}: `<<` takes a mapping or a list of mappings"])
                merged.update(self._pairs(other, depth + 1))
        self._known_pairs[id(node)] = merged | own
        return self._known_pairs[id(node)]

    def _scalar(self, node: Any, mark: Mark) -> Any:
        """What looks like a date or a number, or says so by its tag, may be none: 2026-13-45, `!!bool x`."""
        try:
            value = self._loader.construct_object(node)
        except (ValueError, OverflowError, LookupError, AttributeError):
            kind = node.tag.rpartition(":")[2]
            raise ConfigError([f"{mark}: {quote(node.value[:60])} cannot be read as {kind}"]) from None
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            raise ConfigError([f"{mark}: is a number of more than {_MOST_BITS} bits"])
        return value

    def _mark(self, node: Any) -> Mark:
        return Mark(self._file, node.start_mark.line + 1, node.start_mark.column + 1)


def _message(error: yaml.YAMLError, file: str, text: str) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if mark is None:
        return f"{file}: {problem}"
    begun = getattr(error, "context_mark", None)
    opened = (begun.line + 1, begun.column + 1) if begun else None
    context = getattr(error, "context", None) or ""
    said = broken_yaml(problem, context, text.splitlines(), mark.line, mark.column, opened)
    return f"{file}:{mark.line + 1}:{mark.column + 1}: {said}"
