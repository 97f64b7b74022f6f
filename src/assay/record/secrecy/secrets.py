from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.record.secrecy.secret_forms import secret_forms
from assay.record.secrecy.secret_names import is_secret
from assay.record.secrecy.secret_shapes import ADDRESS, MARKS, TOKEN, TOKEN_STARTS, find_shapes
from assay.record.secrecy.secret_values import is_searchable
from assay.record.secrecy.secret_words import find_secrets, places_of_words, secrets_of_text

SHORTEST = 6
"""Characters of a value that is looked for everywhere; shorter ones are too likely to be part of something else."""
__all__ = ["SHORTEST", "Masker", "is_secret"]


class Masker:
    """Keeps secrets out of what is kept and shown: known values, values of options by name, and what has the shape of
    a secret.

    A value is shown as `***NAME***`, after the variable, option or key that it was given by; where it comes in one of
    the usual encodings, as `***NAME_ENCODED***`.
    """

    def __init__(self, environment: Mapping[str, str], found: Iterable[tuple[str, str]] = ()) -> None:
        """`found`: names and values of secrets that come from elsewhere; without a name one is shown as `***`."""
        self._names: dict[str, str] = {}
        for name, value in environment.items():
            if is_secret(name, value):
                self._names.setdefault(value, name)
        for name, value in environment.items():
            if len(value) >= SHORTEST:
                self._add((f"{name}_{kind}", secret) for kind, secret in secrets_of_text(value))
        self._add(found)
        known: dict[str, str] = {}
        for value, name in self._names.items():
            if is_searchable(value, SHORTEST):
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

    @property
    def shapes(self) -> dict[str, Any]:
        """Patterns of what else is replaced in a stream of bytes, as `process` takes them."""
        return {
            "token": TOKEN.encode(),
            "starts": [start.encode() for start in TOKEN_STARTS],
            "address": ADDRESS.encode(),
            "marks": [[mark.encode(), pattern.encode()] for mark, pattern in MARKS],
        }

    def text(self, text: str) -> str:
        for value, name in self._values:
            if value in text:
                text = text.replace(value, _placeholder(name))
        return _put(text, ((start, end, "***") for _, start, end in find_shapes(text)))

    def words(self, argv: list[str]) -> list[str]:
        """`--api-key VALUE`, `--api-key=VALUE`, `….API_KEY=VALUE` and `{"api_key": "VALUE"}` are masked whatever the
        value, if it isn't trivial."""
        return [self._places(word, places) for word, places in zip(argv, places_of_words(argv), strict=True)]

    def script(self, text: str) -> str:
        """A text that a user wrote, such as a command for a shell: names in it are taken at their word."""
        return self._places(text, find_secrets(text))

    def _places(self, text: str, places: Iterable[tuple[str, int, int]]) -> str:
        return self.text(_put(text, ((start, end, self._whole(text[start:end])) for _, start, end in places)))

    def _whole(self, value: str) -> str:
        return _placeholder(self._names.get(value, ""))

    def value(self, value: Any, name: str = "") -> Any:
        """Names of a mapping are masked too; where two become the same, the later ones are numbered."""
        if isinstance(value, str):
            return self._whole(value) if name and is_secret(name, value) else self.text(value)
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


def _put(text: str, places: Iterable[tuple[int, int, str]]) -> str:
    """The text with other text at these places; of places that overlap, the longest of the first."""
    pieces: list[str] = []
    done = 0
    for start, end, shown in sorted(places, key=lambda place: (place[0], -place[1])):
        if start >= done:
            pieces += [text[done:start], shown]
            done = end
    return "".join([*pieces, text[done:]]) if pieces else text
