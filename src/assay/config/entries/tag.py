from __future__ import annotations

import re

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
