from __future__ import annotations

import re
from collections.abc import Mapping

from assay.document.node import Node, Path, shown

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
TOKENISED = ("args", "command")
"""Split into arguments before values are put in: see `Entry`."""


class Variables:
    """Puts `${VAR}` and `${VAR:-default}` in place; what is missing is collected, with its place."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.problems: list[str] = []

    def text(self, text: str, where: str) -> str:
        def value(match: re.Match[str]) -> str:
            name, default = match[1], match[2]
            if name in self._environment:
                return self._environment[name]
            if default is not None:
                return default
            self.problems.append(
                f"{where}: the environment variable {name} is not set; set it, or write ${{{name}:-default}}"
            )
            return match[0]

        return _VARIABLE.sub(value, text)

    def substitute(self, node: Node, path: Path = ()) -> Node:
        if node.is_mapping:
            children = {
                key: child if key in TOKENISED else self.substitute(child, (*path, key))
                for key, child in node.value.items()
            }
            return Node(children, node.mark, node.key, node.anchored)
        if node.is_list:
            items = [self.substitute(child, (*path, index)) for index, child in enumerate(node.value)]
            return Node(items, node.mark, node.key, node.anchored)
        if isinstance(node.value, str) and "${" in node.value:
            return Node(self.text(node.value, f"{node.mark}: {shown(path)}"), node.mark, node.key, node.anchored)
        return node
