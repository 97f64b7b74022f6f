from __future__ import annotations

import re
from itertools import product
from typing import Any

from assay.document.yaml_node import YamlNode


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
