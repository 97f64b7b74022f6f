from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from assay.config.older_form import SERVICES, read_dataset_paths
from assay.config.session_config import SessionConfig
from assay.document.node import Node
from assay.document.yaml_file import read_yaml
from assay.errors import ConfigError


def migrated(matrix: Path, datasets: Path | None, is_sink: Callable[[str], bool] = lambda name: False) -> str:
    """Only the blocks that the newer form says otherwise are rewritten; every other line stays as it is. `is_sink`:
    whether a name is that of a sink of the user's own."""
    root = read_yaml(matrix)
    if not root.is_mapping:
        raise ConfigError([f"{root.mark}: must be a mapping"])
    lines = matrix.read_text(encoding="utf-8").splitlines(keepends=True)
    blocks = _blocks(root, len(lines))
    others = [key for key in blocks if key not in SessionConfig.model_fields and root.value[key].is_mapping]
    services = (*SERVICES, "slack", *(key for key in others if is_sink(key)))
    moved = [key for key in dict.fromkeys(services) if key in blocks]
    removed = {number for key in moved for number in range(*blocks[key])}
    kept = [line for number, line in enumerate(lines) if number not in removed]
    if kept and not kept[-1].endswith("\n"):
        kept[-1] += "\n"
    added: dict[str, Any] = {}
    if moved:
        added["sinks"] = [_sink(key, root.value[key]) for key in moved]
    if datasets is not None:
        added["datasets"] = read_dataset_paths(datasets).plain()
    text = "".join(kept)
    if added:
        text += "\n" + yaml.safe_dump(added, sort_keys=False, allow_unicode=True)
    return text


def _blocks(root: Node, count: int) -> dict[str, tuple[int, int]]:
    """Lines of each top-level key, up to the next one; comments just above a key belong to it."""
    starts = sorted((child.key.line - 1, key) for key, child in root.value.items() if child.key is not None)
    ends = [start for start, _ in starts[1:]] + [count]
    return {key: (start, end) for (start, key), end in zip(starts, ends, strict=True)}


def _sink(key: str, block: Node) -> dict[str, Any]:
    written: dict[str, Any] = {"name": key}
    for name, value in (block.plain() if block.is_mapping else {}).items():
        if name == "webhook_env":
            written["webhook_url"] = f"${{{value}}}"
        else:
            written[name] = value
    return written
