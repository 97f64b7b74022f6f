from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.names import quote, unknown

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
