from __future__ import annotations

from assay.document.node import Node, Path, shown

IDENTITY = ("name", "metric", "type")
"""Lists of mappings that all have one of these are merged by it."""


def merge(earlier: Node, later: Node) -> Node:
    """Later wins: mappings merge, lists of named mappings merge by name, other values are replaced."""
    if earlier.is_mapping and later.is_mapping:
        merged = dict(earlier.value)
        for key, child in later.value.items():
            merged[key] = merge(merged[key], child) if key in merged else child
        return Node(merged, later.mark, later.key, later.anchored)
    identity = _identity(earlier)
    if identity and identity == _identity(later):
        return Node(_merge_named(earlier, later, identity), later.mark, later.key, later.anchored)
    return later


def duplicates(node: Node, path: Path = ()) -> list[str]:
    """Two items of one list with one name, in one file: which of them counts would be a guess."""
    problems: list[str] = []
    identity = _identity(node)
    if identity:
        first: dict[str, Node] = {}
        for item in node.value:
            name = item.get(identity)
            if name.value in first:
                line = first[name.value].mark.line
                problems.append(
                    f"{name.mark}: {shown(path)}: {identity} {name.value!r} stands here twice, first in line {line}"
                )
            first.setdefault(name.value, name)
    children = node.value.items() if node.is_mapping else enumerate(node.value) if node.is_list else ()
    for step, child in children:
        problems += duplicates(child, (*path, step))
    return problems


def _identity(node: Node) -> str | None:
    if not node.is_list or not node.value:
        return None
    for key in IDENTITY:
        if all(isinstance((named := item.get(key)) and named.value, str) for item in node.value):
            return key
    return None


def _merge_named(earlier: Node, later: Node, identity: str) -> list[Node]:
    merged = {item.get(identity).value: item for item in earlier.value}
    for item in later.value:
        name = item.get(identity).value
        merged[name] = merge(merged[name], item) if name in merged else item
    return list(merged.values())
