from __future__ import annotations

from assay.config.reading.merge import merge
from assay.document.yaml_node import YamlNode


def with_default_service(root: YamlNode) -> YamlNode:
    """The session's `service:` under that of every entry, before `matrix:` is expanded: a server's flags may vary.

    `service: null` in an entry has none. Data setups have none unless they say so.
    """
    entries, default = root.get("entries"), root.get("service")
    if entries is None or not entries.is_list:
        return root
    items = [_entry(item, default) for item in entries.value]
    return YamlNode({**root.value, "entries": YamlNode(items, entries.mark, entries.key)}, root.mark)


def _entry(entry: YamlNode, default: YamlNode | None) -> YamlNode:
    if not entry.is_mapping:
        return entry
    own = entry.get("service")
    if own is not None and own.value is None:
        children = {key: child for key, child in entry.value.items() if key != "service"}
    elif default is None:
        return entry
    else:
        children = {**entry.value, "service": default if own is None else _merge(default, own)}
    return YamlNode(children, entry.mark, entry.key, entry.anchored)


def _merge(default: YamlNode, own: YamlNode) -> YamlNode:
    """`ready:` says one way of several: the entry's own stands in place of the default's."""
    if default.is_mapping and own.is_mapping and "ready" in own.value:
        kept = {key: child for key, child in default.value.items() if key != "ready"}
        default = YamlNode(kept, default.mark, default.key, default.anchored)
    return merge(default, own)
