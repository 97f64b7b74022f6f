from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import yaml

from assay.config.migration.block import Block
from assay.config.migration.sink_item import SinkItem
from assay.config.reading.older_form import SERVICES, find_asked_sink
from assay.document.yaml_node import YamlNode

MOVED = (*SERVICES, "slack")
Role = Literal["sinks", "first item", "item", "late item", "left out", "other"]


class OlderMatrix:
    """`mlflow:`, `wandb:`, `slack:` and a sink's of the user's own at the top of a file become items of its `sinks:`.

    They stay where they are as long as only blank lines and comments stand between them; others join the first.
    """

    def __init__(self, root: YamlNode, found: Sequence[Block], sink: str, moved: Sequence[str] = MOVED) -> None:
        self._root = root
        self._blocks = list(found)
        listed = root.get("sinks")
        self._known = listed.value if listed is not None and listed.is_list else []
        names = [item.get("name") for item in self._known]
        self._taken = {name.value for name in names if name is not None}
        asked, keys, _ = find_asked_sink(root, sink)
        path = str(keys["class"].value) if "class" in keys else None
        values = {key: root.value[key] for key in (*moved, asked) if key in root.value}
        if asked not in ("none", *values, *self._taken):
            self._blocks += [Block(None, (), ("\n",)), Block(asked, (), (f"{asked}:\n",))]
            values[asked] = YamlNode({}, root.mark)
        self._items = {
            str(block.key): SinkItem(
                str(block.key), block, values[block.key], block.key == asked, path if block.key == asked else None
            )
            for block in self._blocks
            if block.key in values and block.key not in self._taken
        }
        self.left_out = [str(block.key) for block in self._blocks if block.key in values and block.key in self._taken]
        """Blocks whose service `sinks:` has already."""

    def plain(self) -> dict[str, Any]:
        """What the new file must say."""
        gone = {*self._items, *self.left_out, "sinks"}
        kept = {key: child.plain() for key, child in self._root.value.items() if key not in gone}
        roles = list(self._roles())
        items = [block for role in ("first item", "item", "late item") for block, its in roles if its == role]
        sinks = [item.plain() for item in self._known] + [self._items[str(block.key)].plain() for block in items]
        return {**kept, **({"sinks": sinks} if sinks else {})}

    def lines(self) -> list[str]:
        out: list[str] = []
        late: list[str] = []
        join = 0
        indent = self._indent()
        for block, role in self._roles():
            if role == "sinks":
                out += self._write_known(block)
                join = len(out)
            elif role == "late item":
                late += self._items[str(block.key)].lines(indent)
                while len(out) > join and not out[-1].strip():
                    out.pop()
            elif role in ("first item", "item"):
                out += ["sinks:\n"] if role == "first item" else []
                out += self._items[str(block.key)].lines(indent)
                join = len(out)
            elif role == "left out":
                out += [*block.lead, f"# `sinks:` has {block.key} already; this stood here beside it:\n"]
                out += [f"# {line}" if line.strip() else line for line in block.lines]
            else:
                out += block.text()
        return out[:join] + late + out[join:]

    def _roles(self) -> Iterator[tuple[Block, Role]]:
        has_list = is_open = False
        for block in self._blocks:
            if block.key == "sinks":
                has_list = is_open = True
                yield block, "sinks"
            elif block.key in self._items and not has_list and "sinks" not in self._root.value:
                has_list = is_open = True
                yield block, "first item"
            elif block.key in self._items:
                yield block, "item" if is_open else "late item"
            elif block.key in self.left_out:
                yield block, "left out"
            else:
                is_open = is_open and block.key is None
                yield block, "other"

    def _indent(self) -> str:
        """Indentation of the dashes that are there already."""
        lines = [line for block in self._blocks if block.key == "sinks" for line in block.lines[1:]]
        dashes = (re.match(r"(\s*)- ", line) for line in lines)
        return next((match[1] for match in dashes if match), "  ")

    def _write_known(self, block: Block) -> list[str]:
        """Lines of the sinks that are there already. A list on one line is written out, so that more can follow."""
        if not self._items or (block.comment is not None and self._known):
            return block.text()
        dumped = [yaml.safe_dump([item.plain()], sort_keys=False, allow_unicode=True) for item in self._known]
        written = [line for item in dumped for line in item.splitlines(keepends=True)]
        return [*block.lead, "sinks:\n", *(f"  {line}" for line in written)]
