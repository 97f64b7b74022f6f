from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from assay.config.migration.block import Block, blocks
from assay.config.migration.newest_form import is_newest, with_empty_variables
from assay.config.migration.newest_form import plain as newest_plain
from assay.config.migration.older_matrix import MOVED, OlderMatrix
from assay.config.reading.older_form import read_dataset_paths
from assay.config.session_config import SessionConfig
from assay.document.config_text import read_config
from assay.document.yaml_file import parse_yaml
from assay.document.yaml_node import YamlNode
from assay.errors import ConfigError


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
        text = _check_layout("".join(with_empty_variables(root, _blocks(root, text))), newest_plain(root), file, notes)
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
