from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

from assay.names import unknown

PLACES = ("results_path", "session_name", "session_path")
PLACEHOLDERS = tuple(name for place in PLACES for name in (place, f"{place}_url"))
"""The `…_url` forms are percent-encoded, slashes too."""
_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_SINGLE = re.compile(r"[{}]")


def check_template(template: str) -> str:
    """Raises ValueError for a placeholder that there is not, or half of one."""
    viewer_url(template, *PLACES)
    if _SINGLE.search(_TOKEN.sub("", template)):
        raise ValueError("has a brace without its other half; a brace that is meant is written twice")
    return template


def viewer_url(template: str, results_path: str, session_name: str, session_path: str) -> str:
    values = dict(zip(PLACES, (results_path, session_name, session_path), strict=True))
    values |= {f"{name}_url": quote(value, safe="") for name, value in values.items()}
    return _TOKEN.sub(_value_of(values), template)


def literal(url: str) -> str:
    """`url` as a template without placeholders."""
    return url.replace("{", "{{").replace("}", "}}")


def _value_of(values: dict[str, str]) -> Callable[[re.Match[str]], str]:
    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        if match[1] not in values:
            raise ValueError(f"{unknown('placeholder', match[1], PLACEHOLDERS)}; a brace is written {{{{")
        return values[match[1]]

    return value
