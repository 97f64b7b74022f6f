from __future__ import annotations

import re

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
    {"session.json", "session.log", "env.json", "results.jsonl", "report.html", "comparison.json", "artifacts"}
)
"""What a session folder holds beside the folders of its entries."""


def check_entry_name(name: str) -> str:
    """Its folder stands beside the session's own files."""
    if name.lower() in OWN_FILES:
        raise ValueError(f"a session has a file or folder of its own that is called {name}: choose another name")
    return check_name(name)
