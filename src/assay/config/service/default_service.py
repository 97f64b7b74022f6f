from __future__ import annotations

from assay.config.reading.merge import merge
from assay.document.node import Node


def with_default_service(root: Node) -> Node:
    """The session's `service:` under that of every entry, before `matrix:` is expanded: a server's flags may vary.

    `service: null` in an entry has none. Data setups have none unless they say so.
    """
    entries, default = root.get("entries"), root.get("service")
    if entries is None or not entries.is_list:
        return root
    items = [_entry(item, default) for item in entries.value]
    return Node({**root.value, "entries": Node(items, entries.mark, entries.key)}, root.mark)


def _entry(entry: Node, default: Node | None) -> Node:
    if not entry.is_mapping:
        return entry
    own = entry.get("service")
    if own is not None and own.value is None:
        children = {key: child for key, child in entry.value.items() if key != "service"}
    elif default is None:
        return entry
    else:
        children = {**entry.value, "service": default if own is None else _merged(default, own)}
    return Node(children, entry.mark, entry.key, entry.anchored)


def _merged(default: Node, own: Node) -> Node:
    """`ready:` says one way of several: the entry's own stands in place of the default's."""
    if default.is_mapping and own.is_mapping and "ready" in own.value:
        kept = {key: child for key, child in default.value.items() if key != "ready"}
        default = Node(kept, default.mark, default.key, default.anchored)
    return merge(default, own)
