"""Names of any kind as MLflow takes them, and back. MLflow allows letters, digits, `_ - . : /` and space, at most 250
of them, and no path that is not its own normal form. A character it refuses becomes `:hex:`, and so does the colon
itself, which makes the mapping reversible. What is too long is cut, and ends with a digest under which the whole name
is kept in a tag."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

LONGEST = 250
NAME_TAG = "assay.name."
EMPTY = ":empty:"
"""Stand-in for an empty name. No other name becomes this: between colons only hexadecimal digits stand."""
_REFUSED = re.compile(r"[^A-Za-z0-9_\-. /]", re.ASCII)
# Slashes and dots where a path would not be in its normal form: at the ends, doubled, and the segments `.` and `..`.
_NO_PATH = re.compile(r"^/|/$|(?<=/)/|(?:^|(?<=/))\.{1,2}(?=/|$)|\.\.|^[ ]|[ ]$")
_ESCAPED = re.compile(r":([0-9a-f]+):")


def to_mlflow(name: str) -> tuple[str, dict[str, str]]:
    """The name to use, and the tags to set beside it (none unless it had to be cut)."""
    escaped = _REFUSED.sub(_hex, name) or EMPTY
    escaped = _NO_PATH.sub(lambda found: "".join(f":{ord(c):x}:" for c in found[0]), escaped)
    if len(escaped) <= LONGEST:
        return escaped, {}
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return escaped[: LONGEST - 18].rstrip("/. ") + f":x{digest}", {NAME_TAG + digest: name}


def from_mlflow(name: str, tags: Mapping[str, str]) -> str:
    cut = tags.get(NAME_TAG + name[-16:])
    if cut is not None and name[-18:-16] == ":x":
        return cut
    return "" if name == EMPTY else _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name)


def _hex(found: re.Match[str]) -> str:
    return f":{ord(found[0]):x}:"
