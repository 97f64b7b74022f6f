from __future__ import annotations

import re
from collections.abc import Mapping

from assay.document.yaml_node import Path, YamlNode, path_text

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::([-+])([^}]*))?\}")
TOKENISED = ("args", "command")
"""Keys whose text is split into arguments before values are put in; see `Entry`."""


class Variables:
    """Puts `${VAR}`, `${VAR:-default}` and `${VAR:+value if it is set}` in place.

    What is missing is collected with its place: a problem, or with `lenient` a warning and an empty value.
    """

    def __init__(self, environment: Mapping[str, str], lenient: bool = False) -> None:
        self._environment = environment
        self._lenient = lenient
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.emptied: list[tuple[Path, str]] = []
        """Where an unset variable was taken as empty, and its name."""

    def text(self, text: str, where: str, path: Path = ()) -> str:
        def value(match: re.Match[str]) -> str:
            name, kind, other = match[1], match[2], match[3]
            if kind == "+":
                return other if self._environment.get(name) else ""
            if name in self._environment:
                return self._environment[name]
            if kind == "-":
                return other
            missing = f"{where}: the environment variable {name} is not set"
            if self._lenient:
                self.warnings.append(f"{missing}: its value is taken as empty (--lenient-config)")
                self.emptied.append((path, name))
                return ""
            self.problems.append(
                f"{missing}; set it, or write ${{{name}:-default}}; "
                "`assay run --lenient-config` takes unset ones as empty"
            )
            return match[0]

        return _VARIABLE.sub(value, text)

    def substitute(self, node: YamlNode, path: Path = ()) -> YamlNode:
        if node.is_mapping:
            children = {
                key: child if key in TOKENISED else self.substitute(child, (*path, key))
                for key, child in node.value.items()
            }
            return YamlNode(children, node.mark, node.key, node.anchored)
        if node.is_list:
            items = [self.substitute(child, (*path, index)) for index, child in enumerate(node.value)]
            return YamlNode(items, node.mark, node.key, node.anchored)
        if isinstance(node.value, str) and "${" in node.value:
            return YamlNode(
                self.text(node.value, f"{node.mark}: {path_text(path)}", path), node.mark, node.key, node.anchored
            )
        return node
