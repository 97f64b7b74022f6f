from __future__ import annotations

from assay.document.yaml_node import Path, YamlNode, path_text

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


def duplicates(node: YamlNode, path: Path = ()) -> list[str]:
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
