from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.document.yaml_node import YamlNode


@dataclass(frozen=True)
class Block:
    """A top-level key with its lines, or lines between two keys."""

    key: str | None
    lead: tuple[str, ...]
    """Comments directly above the key."""
    lines: tuple[str, ...]
    """The key's own, or those between."""

    @property
    def comment(self) -> str | None:
        """What stands behind the key, where that is nothing but a comment; None where its value begins there."""
        match = re.fullmatch(r"[^\s:]+:\s*(#.*)?", self.lines[0].rstrip("\n"))
        return None if match is None else (match[1] or "")

    def text(self) -> list[str]:
        return [*self.lead, *self.lines]


def blocks(root: YamlNode, lines: Sequence[str]) -> list[Block]:
    """All lines of the file, in order. Comments and blank lines at the end of a value belong to what follows it."""
    starts = sorted(
        (child.key.line - 1, key) for key, child in root.value.items() if child.key and child.key.column == 1
    )
    found: list[Block] = []
    at = 0
    for number, (start, key) in enumerate(starts):
        lead = start
        while lead > at and lines[lead - 1].startswith("#"):
            lead -= 1
        if lead > at:
            found.append(Block(None, (), tuple(lines[at:lead])))
        end = starts[number + 1][0] if number + 1 < len(starts) else len(lines)
        while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
            end -= 1
        found.append(Block(key, tuple(lines[lead:start]), tuple(lines[start:end])))
        at = end
    if at < len(lines):
        found.append(Block(None, (), tuple(lines[at:])))
    return found
