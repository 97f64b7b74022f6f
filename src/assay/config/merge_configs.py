from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

from assay.document.yaml_node import KeyPath, YamlNode, path_text
from assay.errors import UsageError
from assay.names import unknown

IDENTITY = ("name", "metric", "type")
"""Lists of mappings that all have one of these are merged by it."""


def merge(earlier: YamlNode, later: YamlNode) -> YamlNode:
    """Later wins: mappings merge, lists of named mappings merge by name, other values are replaced."""
    if earlier.is_mapping and later.is_mapping:
        merged = dict(earlier.value)
        for key, child in later.value.items():
            merged[key] = merge(merged[key], child) if key in merged else child
        return YamlNode(merged, later.mark, later.key, later.anchored)
    identity = _identity(earlier)
    if identity and identity == _identity(later):
        return YamlNode(_merge_named(earlier, later, identity), later.mark, later.key, later.anchored)
    return later


def duplicates(node: YamlNode, path: KeyPath = ()) -> list[str]:
    """Problems: two items of one list with one name, in one file. Which of them counts would be a guess."""
    problems: list[str] = []
    identity = _identity(node)
    if identity:
        first: dict[str, YamlNode] = {}
        for item in node.value:
            name = item.get(identity)
            if name.value in first:
                line = first[name.value].mark.line
                problems.append(
                    f"{name.mark}: {path_text(path)}: {identity} {name.value!r} stands here twice, first in line {line}"
                )
            first.setdefault(name.value, name)
    children = node.value.items() if node.is_mapping else enumerate(node.value) if node.is_list else ()
    for step, child in children:
        problems += duplicates(child, (*path, step))
    return problems


def _identity(node: YamlNode) -> str | None:
    if not node.is_list or not node.value:
        return None
    for key in IDENTITY:
        if all(isinstance((named := item.get(key)) and named.value, str) for item in node.value):
            return key
    return None


def _merge_named(earlier: YamlNode, later: YamlNode, identity: str) -> list[YamlNode]:
    merged = {item.get(identity).value: item for item in earlier.value}
    for item in later.value:
        name = item.get(identity).value
        merged[name] = merge(merged[name], item) if name in merged else item
    return list(merged.values())


def expand_matrix(entry: YamlNode) -> tuple[list[YamlNode], list[str]]:
    """The entries that an entry with `matrix:` stands for, and what is wrong with it.

    `matrix: {executor: [a, b], size: [1, 2]}` gives four, named `name-a-1` and so on; `{executor}` and `{size}`
    may stand in any of its values. `exclude:` inside lists combinations to leave out.
    """
    grid = entry.get("matrix")
    name = entry.get("name")
    if grid is None or name is None:
        return [entry], []
    if not grid.is_mapping:
        return [entry], [f"{grid.mark}: matrix: must be a mapping of names to lists"]
    problems = []
    exclude = grid.get("exclude")
    excluded = exclude.plain() if exclude is not None and exclude.is_list else []
    axes: dict[str, list[Any]] = {}
    for key, axis in grid.value.items():
        if key == "exclude":
            continue
        if not axis.is_list or not axis.value or any(item.is_mapping or item.is_list for item in axis.value):
            problems.append(f"{axis.mark}: matrix.{key}: must be a list of at least one plain value")
            continue
        axes[key] = axis.plain()
    if problems or not axes:
        return [entry], problems or [f"{grid.mark}: matrix: names nothing to vary"]
    entries = []
    for values in product(*axes.values()):
        point = dict(zip(axes, values, strict=True))
        if any(all(point.get(key) == value for key, value in row.items()) for row in excluded if isinstance(row, dict)):
            continue
        entries.append(_at(entry, point))
    return entries, []


def _at(entry: YamlNode, point: dict[str, Any]) -> YamlNode:
    children = {key: _substitute(child, point) for key, child in entry.value.items() if key != "matrix"}
    name = entry.value["name"]
    suffix = "-".join(re.sub(r"[^\w.=+@]+", "_", str(value)) for value in point.values())
    children["name"] = YamlNode(f"{name.value}-{suffix}", name.mark, name.key)
    return YamlNode(children, entry.mark, entry.key, entry.anchored)


def _substitute(node: YamlNode, point: dict[str, Any]) -> YamlNode:
    if node.is_mapping:
        return YamlNode({key: _substitute(child, point) for key, child in node.value.items()}, node.mark, node.key)
    if node.is_list:
        return YamlNode([_substitute(child, point) for child in node.value], node.mark, node.key)
    if not isinstance(node.value, str):
        return node
    text = node.value
    for key, value in point.items():
        if text == f"{{{key}}}":
            return YamlNode(value, node.mark, node.key)
        text = text.replace(f"{{{key}}}", str(value))
    return YamlNode(text, node.mark, node.key)


def without(root: YamlNode, names: Sequence[str]) -> YamlNode:
    """`--no-sink NAME`: gone before anything is asked of it, so that the variables it needs may be unset."""
    sinks = root.get("sinks")
    written = list(sinks.value) if sinks is not None and sinks.is_list else []
    known = [str(named.value) for item in written if (named := item.get("name")) is not None]
    for name in names:
        if name not in known:
            raise UsageError(f"--no-sink: {unknown('sink', name, known)}")
    if not names or sinks is None:
        return root
    kept = [item for item in written if (named := item.get("name")) is None or named.value not in names]
    return YamlNode({**root.value, "sinks": YamlNode(kept, sinks.mark, sinks.key)}, root.mark)
