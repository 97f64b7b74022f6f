from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

Path = tuple[str | int, ...]


class Mark(NamedTuple):
    """Where something stands, counted from 1, as editors do."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(slots=True)
class YamlNode:
    """A value of a YAML file that remembers where it was written, through merging and substitution.

    `value` is a scalar, a `dict[str, YamlNode]` or a `list[YamlNode]`. `key` is where the key of this value stands.
    """

    value: Any
    mark: Mark
    key: Mark | None = None
    anchored: bool = False

    @classmethod
    def of(cls, value: Any, mark: Mark) -> YamlNode:
        """Plain values from elsewhere than a file (a program, a command line), all standing at `mark`."""
        if isinstance(value, dict):
            return cls({str(key): cls.of(item, mark) for key, item in value.items()}, mark)
        if isinstance(value, list | tuple):
            return cls([cls.of(item, mark) for item in value], mark)
        return cls(value, mark)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    def get(self, name: str) -> YamlNode | None:
        return self.value.get(name) if isinstance(self.value, dict) else None

    def plain(self) -> Any:
        if isinstance(self.value, dict):
            return {name: child.plain() for name, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def at(self, path: Path) -> YamlNode:
        """The node at `path`, or the nearest above it."""
        node = self
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            node = child
        return node

    def scalars(self, path: Path = ()) -> Iterator[tuple[Path, YamlNode]]:
        if isinstance(self.value, dict):
            for name, child in self.value.items():
                yield from child.scalars((*path, name))
        elif isinstance(self.value, list):
            for index, child in enumerate(self.value):
                yield from child.scalars((*path, index))
        else:
            yield path, self


def _child(node: YamlNode, step: str | int) -> YamlNode | None:
    value: Any = node.value
    child: YamlNode | None = None
    if isinstance(value, dict):
        child = value.get(step)
    elif isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        child = value[step]
    return child


def path_text(path: Path) -> str:
    """`entries[2].timeout_s`"""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text
