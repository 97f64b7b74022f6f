from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.document.yaml_node import KeyPath, YamlNode, path_text
from assay.names import quote, unknown

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
        self.emptied: list[tuple[KeyPath, str]] = []
        """Where an unset variable was taken as empty, and its name."""

    def text(self, text: str, where: str, path: KeyPath = ()) -> str:
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

    def substitute(self, node: YamlNode, path: KeyPath = ()) -> YamlNode:
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


_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)(?::(?P<argument>[^{}]*))?\}")
FOLDERS = ("session_entry_dir", "session", "scratch_dir", "benchmark_results_path", "artifacts_dir")
"""Placeholders whose values are known only when a run starts."""


class UnknownPlaceholder(Exception):
    """Fails the entry that has it, not the session."""


@dataclass(frozen=True)
class UsedDataset:
    """A data set that an entry's arguments name, as `name,format`, and where it is."""

    name: str
    path: str


class Datasets:
    """`{dataset:name,format}` → path."""

    def __init__(self, paths: Mapping[str, Mapping[str, str]]) -> None:
        self.paths = paths

    def path(self, argument: str) -> str:
        name, comma, kind = (part.strip() for part in argument.partition(","))
        if not comma or not name or not kind:
            raise UnknownPlaceholder(f"{{dataset:{argument}}}: write {{dataset:name,format}}")
        if name not in self.paths:
            raise UnknownPlaceholder(unknown("data set", name, sorted(self.paths)))
        if kind not in self.paths[name]:
            raise UnknownPlaceholder(unknown("format", kind, sorted(self.paths[name]), of=f"data set {quote(name)}"))
        return self.paths[name][kind]


def render(text: str, values: Mapping[str, str], datasets: Datasets, later: tuple[str, ...] = ()) -> str:
    """Puts values in. Names in `later` stay as they are, doubled braces with them, for a second rendering."""
    opened = 0

    def value(match: re.Match[str]) -> str:
        nonlocal opened
        if match[0] == "{{":
            opened += 1
            return "{{" if later else "{"
        if match[0] == "}}":
            if not opened or later:
                return "}}"
            opened -= 1
            return "}"
        name, argument = match["name"], match["argument"]
        if name == "dataset" and argument is not None:
            return datasets.path(argument)
        if argument is None and name in values:
            return values[name]
        if argument is None and name in later:
            return match[0]
        if argument is not None:
            return match[0]
        known = [*values, *later, "dataset:name,format"]
        raise UnknownPlaceholder(f"{unknown('placeholder', name, sorted(known))}; a brace is written {{{{")

    return _TOKEN.sub(value, text)
