from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from assay.names import unknown
from assay.record import COMPARISON_FILE, ENVIRONMENT_FILE, LOG_FILE, REPORT_FILE, RESULTS_FILE, SESSION_FILE

_LENGTH = 60
_TAG = re.compile(rf"[^\W_][\w.:=+@/-]{{0,{_LENGTH - 1}}}")


def check_tag(tag: str) -> str:
    """A word that sessions and entries are found by: it stands in addresses and lists, so it has no spaces."""
    if not _TAG.fullmatch(tag):
        raise ValueError(
            f"a tag is one word of at most {_LENGTH} letters, digits and . _ : = + @ / -, beginning with a letter or "
            f"digit; not {tag!r}"
        )
    return tag


GPU_STATS_INTERVAL_S = 1.0
"""Seconds between two rows of a GPU, where the files say nothing else."""

_NAME = re.compile(r"[^\W_][\w.=,+@-]{0,119}")
_MOST_BYTES = 200
"""Length of a name in UTF-8: file systems hold 255 bytes, and a run's files add to it."""


def is_name(text: str) -> bool:
    """Letters and digits of any script, with their accents where these are characters of their own."""
    if text.isascii():
        return _NAME.fullmatch(text) is not None
    from unicodedata import category

    letters = "".join("a" if category(one)[0] == "M" else one for one in text[1:])
    return _NAME.fullmatch(text[:1] + letters) is not None and len(text.encode("utf-8", "replace")) <= _MOST_BYTES


def check_name(name: str) -> str:
    """A name is also a folder's name; one that can be written in two ways gets the usual one (NFC)."""
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFC", name)
    if not is_name(name):
        raise ValueError(
            "a name may hold letters and digits of any script and . _ - = , + @; it begins with a letter or digit, and "
            f"has at most 120 characters and {_MOST_BYTES} bytes"
        )
    return name


OWN_FILES = frozenset(
    {SESSION_FILE, LOG_FILE, ENVIRONMENT_FILE, RESULTS_FILE, REPORT_FILE, COMPARISON_FILE, "artifacts"}
)
"""What a session folder holds beside the folders of its entries."""


def check_entry_name(name: str) -> str:
    """Its folder stands beside the session's own files."""
    if name.lower() in OWN_FILES:
        raise ValueError(f"a session has a file or folder of its own that is called {name}: choose another name")
    return check_name(name)


@dataclass(frozen=True)
class ProgramLimits:
    """What a program and all below it may use; None: as much as there is."""

    cpus: int | None = None
    memory: float | None = None
    """Megabytes, above which the run is ended."""


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
