from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:token|secret|password|passwd|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|webhook)"
    r"(?:$|[_-])",
    re.IGNORECASE,
)
_IN_ADDRESS = re.compile(r"(?P<before>[a-z][a-z0-9+.-]*://[^/\s:@]*:)(?P<secret>[^/\s@]+)(?P<after>@)", re.IGNORECASE)
SHORTEST = 6
"""Shorter values are too likely to be part of something else."""


class Masker:
    """Keeps secrets out of what is kept and shown: known values, values of options by name, passwords in addresses."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        secrets = {value: name for name, value in environment.items() if is_secret(name) and len(value) >= SHORTEST}
        # Longest first: one secret may contain another.
        self._values = sorted(secrets.items(), key=lambda item: -len(item[0]))

    def text(self, text: str) -> str:
        for value, name in self._values:
            if value in text:
                text = text.replace(value, f"***{name}***")
        if "://" in text:
            text = _IN_ADDRESS.sub(r"\g<before>***\g<after>", text)
        return text

    def words(self, argv: list[str]) -> list[str]:
        """`--api-key VALUE` and `--api-key=VALUE` are masked whatever the value."""
        masked: list[str] = []
        hide_next = False
        for word in argv:
            option, equals, _ = word.partition("=")
            if hide_next:
                masked.append("***")
                hide_next = False
            elif word.startswith("-") and is_secret(option.lstrip("-")):
                masked.append(f"{option}=***" if equals else option)
                hide_next = not equals
            else:
                masked.append(self.text(word))
        return masked

    def value(self, value: Any, name: str = "") -> Any:
        if isinstance(value, str):
            return "***" if name and is_secret(name) and value else self.text(value)
        if isinstance(value, Mapping):
            return {key: self.value(item, str(key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.value(item) for item in value)
        return value


def is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None
