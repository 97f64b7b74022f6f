from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from assay.record.secrecy.secret_forms import secret_forms
from assay.record.secrecy.secret_words import is_secret, option_secret, secrets_of_text

_IN_ADDRESS = re.compile(
    r"(?P<before>[a-z][a-z0-9+.-]*://[^/\s:@]*:)(?!\*\*\*)(?P<secret>[^/\s@]+)(?P<after>@)", re.IGNORECASE
)
SHORTEST = 6
"""Characters of a value that is looked for everywhere; shorter ones are too likely to be part of something else."""
__all__ = ["SHORTEST", "Masker", "is_secret"]


class Masker:
    """Keeps secrets out of what is kept and shown: known values, values of options by name, passwords in addresses.

    A value is shown as `***NAME***`, after the variable, option or key that it was given by; where it comes in one of
    the usual encodings, as `***NAME_ENCODED***`.
    """

    def __init__(self, environment: Mapping[str, str], found: Iterable[tuple[str, str]] = ()) -> None:
        """`found`: names and values of secrets that come from elsewhere; without a name one is shown as `***`."""
        self._names: dict[str, str] = {}
        for name, value in environment.items():
            if is_secret(name):
                self._names.setdefault(value, name)
        for name, value in environment.items():
            if "://" in value and value not in self._names:
                self._add((f"{name}_{kind}", secret) for kind, secret in secrets_of_text(value))
        self._add(found)
        known: dict[str, str] = {}
        for value, name in self._names.items():
            if len(value.strip()) >= SHORTEST:
                # Another name, so that what is put back for it (`--resume`) is never the plain value.
                encoded = f"{name}_ENCODED" if name else ""
                known |= {form: name if form == value else encoded for form in secret_forms(value)}
        # Longest first: one secret may contain another.
        self._values = sorted(known.items(), key=lambda item: -len(item[0]))

    def _add(self, found: Iterable[tuple[str, str]]) -> None:
        taken = set(self._names.values())
        for name, value in found:
            if not value or value in self._names:
                continue
            unique, number = name, 2
            while unique and unique in taken:
                unique, number = f"{name}_{number}", number + 1
            taken.add(unique)
            self._names[value] = unique

    @property
    def replacements(self) -> list[tuple[bytes, bytes]]:
        """What is to be replaced in a stream of bytes, and by what; longest first."""
        return [(value.encode("utf-8", "surrogateescape"), _placeholder(name).encode()) for value, name in self._values]

    def text(self, text: str) -> str:
        for value, name in self._values:
            if value in text:
                text = text.replace(value, _placeholder(name))
        if "://" in text:
            text = _IN_ADDRESS.sub(r"\g<before>***\g<after>", text)
        return text

    def words(self, argv: list[str]) -> list[str]:
        """`--api-key VALUE`, `--api-key=VALUE` and `….API_KEY=VALUE` are masked whatever the value."""
        masked: list[str] = []
        hide_next = False
        for word in argv:
            secret = option_secret(word)
            if hide_next and not word.startswith("--"):
                masked.append(self._whole(word))
                hide_next = False
            elif secret is not None:
                masked.append(f"{word[: len(word) - len(secret)]}{self._whole(secret)}" if secret else word)
                hide_next = not secret and not word.endswith("=")
            else:
                masked.append(self.text(word))
                hide_next = False
        return masked

    def _whole(self, value: str) -> str:
        return _placeholder(self._names.get(value, ""))

    def value(self, value: Any, name: str = "") -> Any:
        """Names of a mapping are masked too; where two become the same, the later ones are numbered."""
        if isinstance(value, str):
            return self._whole(value) if name and is_secret(name) and value else self.text(value)
        if isinstance(value, Mapping):
            masked: dict[Any, Any] = {}
            for key, item in value.items():
                shown = self.text(key) if isinstance(key, str) else key
                number = 2
                while shown != key and (shown in masked or shown in value):
                    shown, number = f"{self.text(key)} ({number})", number + 1
                masked[shown] = self.value(item, str(key))
            return masked
        if isinstance(value, list | tuple):
            return type(value)(self.value(item) for item in value)
        return value


def _placeholder(name: str) -> str:
    return f"***{name}***" if name else "***"
