from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from assay.config.migration.block import Block
from assay.document.yaml_node import YamlNode

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
