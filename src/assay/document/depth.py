"""How deep a YAML text is nested, known before anything recurses into it."""

from __future__ import annotations

import re
from typing import Any

import yaml

from assay.document.yaml_node import Mark

DEEPEST = 100
_INDENTED = re.compile(r"^[ \-?:]+", re.MULTILINE)


def too_deep(text: str, file: str, loader: Any) -> Mark | None:
    """Where more than `DEEPEST` levels are open; None if nowhere. Raises what the parser raises.

    A level takes a bracket, or begins further right than the one around it (a list may begin where its key does). Few
    files could be that deep by this count; only of those the parser's events, which do not recurse, are counted.
    """
    indented = max((len(found[0]) for found in _INDENTED.finditer(text)), default=0)
    if text.count("[") + text.count("{") + 2 * indented < DEEPEST:
        return None
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                at: Any = event.start_mark
                return Mark(file, at.line + 1, at.column + 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return None
