from __future__ import annotations

import os
import select
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import ConfigError

KeyPath = tuple[str | int, ...]


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

    def at(self, path: KeyPath) -> YamlNode:
        """The node at `path`, or the nearest above it."""
        node = self
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            node = child
        return node

    def scalars(self, path: KeyPath = ()) -> Iterator[tuple[KeyPath, YamlNode]]:
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


def path_text(path: KeyPath) -> str:
    """`entries[2].timeout_s`"""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


MOST_BYTES = 64 * 2**20
"""Most bytes of one file; no configuration comes near it."""
_BLOCK = 2**20


def read_config(path: Path) -> str:
    """A file that the user names. It may be a pipe (`--config <(make-config)`), but one that nobody writes to, a device
    or a folder is refused: nothing here waits for ever."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            return _read(descriptor, path).decode("utf-8")
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise ConfigError([f"{path}: no such file"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: is not valid UTF-8: {error.reason} at byte {error.start}"]) from None
    except ValueError:
        raise ConfigError([f"{str(path)!r}: is not a path: it has a null character"]) from None


def _read(descriptor: int, path: Path) -> bytes:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise ConfigError([f"{path}: is a directory, not a file"])
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise ConfigError([f"{path}: is neither a file nor a pipe"])
    blocks: list[bytes] = []
    while block := _block(descriptor, stat.S_ISFIFO(mode)):
        blocks.append(block)
        if len(blocks) * _BLOCK > MOST_BYTES and sum(map(len, blocks)) > MOST_BYTES:
            raise ConfigError([f"{path}: is larger than {MOST_BYTES // 2**20} MB"])
    if stat.S_ISFIFO(mode) and not blocks:
        raise ConfigError([f"{path}: is a pipe that nobody writes to"])
    return b"".join(blocks)


def _block(descriptor: int, waits: bool) -> bytes:
    """Bytes that the writer of a pipe has written so far; none at the end."""
    while True:
        try:
            return os.read(descriptor, _BLOCK)
        except BlockingIOError:
            if not waits:
                raise
            select.select([descriptor], [], [])
