from __future__ import annotations

from collections.abc import Sequence

from assay.document.yaml_node import YamlNode
from assay.errors import UsageError
from assay.names import unknown


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
