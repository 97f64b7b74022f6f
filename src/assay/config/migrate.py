from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from assay.config.older_form import SERVICES, find_asked_sink, read_dataset_paths
from assay.config.session_config import SessionConfig
from assay.document.yaml_file import parse_yaml
from assay.document.yaml_node import YamlNode, read_config
from assay.errors import ConfigError


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


MARKS = (
    "gpu_stats_recorder", "max_timeout_s", "cleanup_timeout_s", "min_timeout_s", "object_store_size", "results_path",
    "datasets_path", "model_weights_path", "gpu_mem_use_warning_threshold", "viewer_url_template",
)  # fmt: skip
"""Keys that only files of the newest form have."""
_BARE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def is_newest(root: YamlNode) -> bool:
    paths = root.get("paths")
    return (paths is not None and paths.is_list) or any(key in root.value for key in MARKS)


def with_empty_variables(root: YamlNode, found: Sequence[Block]) -> list[str]:
    """A variable that is not set was empty, and a sink that had none did not act: both are written down."""
    lines: list[str] = []
    for block in found:
        if block.key == "sinks":
            lines += [*block.lead, *_add_switches(root.value["sinks"], block)]
        else:
            lines += [*block.lead, *(_allow_empty(line) for line in block.lines)]
    return lines


def plain(root: YamlNode) -> dict[str, Any]:
    """What the new file must say."""
    sinks = root.get("sinks")
    rest = {key: _plain(child) for key, child in root.value.items() if key != "sinks"}
    if sinks is None or not sinks.is_list:
        return {**rest, **({"sinks": sinks.plain()} if sinks is not None else {})}
    return {**rest, "sinks": [_with_switch(item) for item in sinks.value]}


def _allow_empty(line: str) -> str:
    return line if line.lstrip().startswith("#") else _BARE.sub(r"${\1:-}", line)


def _plain(node: YamlNode) -> Any:
    if node.is_mapping:
        return {key: _plain(child) for key, child in node.value.items()}
    if node.is_list:
        return [_plain(child) for child in node.value]
    return _BARE.sub(r"${\1:-}", node.value) if isinstance(node.value, str) else node.value


def _switch(sink: YamlNode) -> str | None:
    """The variable without which it did not act; None where it acts or not whatever is set."""
    enabled = sink.get("enabled")
    if enabled is not None and enabled.value is not True:
        return None
    found = (_BARE.search(child.value) for child in sink.value.values() if isinstance(child.value, str))
    return next((match[1] for match in found if match), None)


def _with_switch(sink: YamlNode) -> Any:
    variable = _switch(sink) if sink.is_mapping else None
    written = sink.plain()
    if variable is None:
        return written
    return {**written, "enabled": f"${{{variable}:+true}}"}


def _add_switches(sinks: YamlNode, block: Block) -> list[str]:
    """Lines of the list, with `enabled:` of each sink by its variable."""
    lines = list(block.lines)
    if not sinks.is_list:
        return lines
    for sink in reversed(sinks.value):
        variable = _switch(sink) if sink.is_mapping else None
        name = sink.get("name") if variable is not None else None
        if name is None or name.key is None:
            continue
        switch = f'enabled: "${{{variable}:+true}}"'
        offset = sinks.key.line if sinks.key is not None else 0
        enabled = sink.get("enabled")
        if enabled is not None and enabled.key is not None:
            at = enabled.key.line - offset
            lines[at] = re.sub(r"enabled:\s*[A-Za-z]+", switch, lines[at], count=1)
        else:
            at = name.key.line - offset
            lines.insert(at + 1, f"{' ' * (name.key.column - 1)}{switch}\n")
    return lines


@dataclass(frozen=True)
class SinkItem:
    """A service's own block of the older form as an item of `sinks:`, acting when it acted before."""

    name: str
    block: Block
    value: YamlNode
    asked: bool
    """It was asked for with --sink."""
    class_path: str | None = None
    """Class of a sink that was asked for by its path."""

    def plain(self) -> dict[str, Any]:
        keys = self.value.plain() if self.value.is_mapping else {}
        own = {key: value for key, value in keys.items() if key not in ("webhook_env", "enabled")}
        url = {"webhook_url": f"${{{self._variable}}}"} if self.name == "slack" else {}
        switch = {} if self._switch is None else {"enabled": self._switch[0]}
        found = {} if self.class_path is None else {"class": self.class_path}
        return {"name": self.name, **found, **switch, **url, **own}

    def lines(self, indent: str) -> list[str]:
        """Lines of the item, with its comments where its lines can be kept; `indent` is that of the dash."""
        lead = [f"{indent}{line}" for line in self.block.lead]
        comment = self.block.comment
        if comment is None or not self.value.is_mapping or self.value.get("enabled") is not None:
            dumped = yaml.safe_dump([self.plain()], sort_keys=False, allow_unicode=True).splitlines(keepends=True)
            return lead + [f"{indent}{line}" for line in dumped]
        named = f"{indent}- name: {self.name}{f'  {comment}' if comment else ''}\n"
        found = [] if self.class_path is None else [f"{indent}  class: {self.class_path}\n"]
        return [*lead, named, *found, *self._switch_lines(indent), *self._own_lines(indent)]

    def _switch_lines(self, indent: str) -> list[str]:
        if self._switch is None:
            return []
        value, why = self._switch
        written = "false" if value is False else f'"{value}"'
        return [f"{indent}  enabled: {written}  # {why}\n"]

    @property
    def _switch(self) -> tuple[Any, str] | None:
        if self.name == "slack":
            return f"${{{self._variable}:+true}}", "as before: once the variable is set"
        if self.asked:
            return None
        return False, f"as before: only when asked for, now with --set sinks.{self.name}.enabled=true"

    @property
    def _variable(self) -> str:
        variable = self.value.get("webhook_env")
        if variable is None:
            raise ConfigError([f"{self.value.mark}: slack.webhook_env: is missing"])
        return str(variable.value)

    def _own_lines(self, indent: str) -> list[str]:
        """The block's lines, moved to the right; the one that names the webhook's variable says its value now."""
        columns = [child.key.column for child in self.value.value.values() if child.key is not None]
        first = min(columns, default=1) - 1
        moved = []
        for line in self.block.lines[1:]:
            own = line[first:] if not line[:first].strip() else line.lstrip()
            if self.name == "slack" and own.startswith("webhook_env:"):
                comment = own.partition(" #")[2].rstrip()
                own = f"webhook_url: ${{{self._variable}}}{f'  #{comment}' if comment else ''}\n"
            moved.append(f"{indent}  {own}" if own.strip() else "\n")
        return moved


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


@dataclass(frozen=True)
class MigratedConfig:
    text: str
    notes: tuple[str, ...] = ()
    """What whoever reads the text should know."""


def migrate(
    file: Path, datasets: Path | None, sink: str = "none", is_sink: Callable[[str], bool] = lambda name: False
) -> MigratedConfig:
    """The file so that `assay run --config` does what was done with it before; only lines that must change do.
    `is_sink`: whether a name is that of a sink of the user's own."""
    written = read_config(file)
    root = parse_yaml(written, str(file))
    if not root.is_mapping:
        raise ConfigError([f"{root.mark}: must be a mapping"])
    if not {*root.value} & {*SessionConfig.model_fields, *MOVED}:
        raise ConfigError([f"{root.mark}: has no key of a matrix or a session, such as `entries:`"])
    lines = written.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    text = "".join(lines)
    notes: list[str] = []
    moved = [key for key, block in root.value.items() if key in MOVED or _is_own(key, block, is_sink)]
    if sink != "none" or moved:
        matrix = OlderMatrix(root, blocks(root, lines), sink, moved)
        text = _check_layout("".join(matrix.lines()), matrix.plain(), file, notes)
        notes += [f"{key}: is a comment now, as `sinks:` has {key} already" for key in matrix.left_out]
    if is_newest(root):
        root = parse_yaml(text, str(file))
        text = _check_layout("".join(with_empty_variables(root, _blocks(root, text))), plain(root), file, notes)
    if datasets is not None:
        text = _with_datasets(text, str(file), read_dataset_paths(datasets))
    return MigratedConfig(text, tuple(notes))


def _is_own(key: str, block: YamlNode, is_sink: Callable[[str], bool]) -> bool:
    return key not in SessionConfig.model_fields and block.is_mapping and is_sink(key)


def _check_layout(text: str, expected: dict[str, Any], file: Path, notes: list[str]) -> str:
    """`text` if it says what it must; otherwise that in plain YAML, which keeps no comments."""
    try:
        if parse_yaml(text, str(file)).plain() == expected:
            return text
    except ConfigError:
        pass
    notes.append("its layout could not be kept, nor its comments: the file says the same")
    return yaml.safe_dump(expected, sort_keys=False, allow_unicode=True)


def _with_datasets(text: str, file: str, datasets: YamlNode) -> str:
    """The text with these data sets in the place of those that are there, or at the end."""
    new = yaml.safe_dump({"datasets": datasets.plain()}, sort_keys=False, allow_unicode=True)
    root = parse_yaml(text, file)
    if "datasets" not in root.value:
        return f"{text}\n{new}"
    return "".join(
        "".join([*block.lead, new]) if block.key == "datasets" else "".join(block.text())
        for block in _blocks(root, text)
    )


def _blocks(root: YamlNode, text: str) -> list[Block]:
    return blocks(root, text.splitlines(keepends=True))
