from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from assay.config.entries.entry import Entry
from assay.errors import UsageError

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")

HELP = (
    "rev=REVISION (checked out apart), interpreter=PATH, args='WORDS' (added), UPPER_CASE=VALUE (environment), "
    "a.b=VALUE (as --set), anything else is an argument: workers=4 becomes --workers 4"
)


@dataclass(frozen=True)
class Variant:
    """One side of an A/B: what is different about it."""

    label: Literal["a", "b"]
    revision: str | None = None
    interpreter: str | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    more: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    overrides: tuple[str, ...] = ()

    @classmethod
    def parse(cls, label: Literal["a", "b"], words: Sequence[str]) -> Variant:
        variant = cls(label)
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or not key:
                raise UsageError(f"--{label} {word}: write KEY=VALUE; {HELP}")
            variant = variant._with(key, value, word)
        return variant

    def _with(self, key: str, value: str, word: str) -> Variant:
        if key == "rev":
            return replace(self, revision=value)
        if key == "interpreter":
            return replace(self, interpreter=value)
        if key == "args":
            return replace(self, more=(*self.more, *shlex.split(value)))
        if _VARIABLE.fullmatch(key):
            return replace(self, environment={**self.environment, key: value})
        if "." in key:
            return replace(self, overrides=(*self.overrides, word))
        return replace(self, arguments=(*self.arguments, (key.lstrip("-"), value)))

    def apply(self, entry: Entry) -> Entry:
        program, interpreter = entry.program, entry.interpreter
        if self.interpreter is not None:
            if entry.script is None:
                raise UsageError(f"--{self.label} interpreter={self.interpreter}: {entry.name} is not a Python script")
            program = (self.interpreter, *entry.program[1:])
            interpreter = self.interpreter if entry.script.suffix == ".py" else None
        args = entry.args
        for name, value in self.arguments:
            args = _replace_option(args, name, _literal(value))
        args = (*args, *map(_literal, self.more))
        env = {**entry.env, **self.environment}
        return replace(entry, program=program, interpreter=interpreter, args=args, env=env)

    @property
    def words(self) -> str:
        said = [
            *([f"rev={self.revision}"] if self.revision else []),
            *([f"interpreter={self.interpreter}"] if self.interpreter else []),
            *(f"{name}={value}" for name, value in self.arguments),
            *self.more,
            *(f"{name}={value}" for name, value in self.environment.items()),
            *self.overrides,
        ]
        return " ".join(said) or "as it is"


def _replace_option(args: tuple[str, ...], name: str, value: str) -> tuple[str, ...]:
    """The value after `--name` (or `--na-me` for `na_me`), wherever it stands; added where it does not."""
    options = {f"--{name}", f"--{name.replace('_', '-')}"}
    found: list[str] = []
    words = iter(args)
    seen = False
    for word in words:
        option, equals, _ = word.partition("=")
        if option not in options:
            found.append(word)
            continue
        seen = True
        if equals:
            found.append(f"{option}={value}")
        else:
            next(words, None)
            found += [option, value]
    return tuple(found) if seen else (*args, f"--{name.replace('_', '-')}", value)


def _literal(word: str) -> str:
    """Braces in what the user wrote are not placeholders of ours."""
    return word.replace("{", "{{").replace("}", "}}")
