from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.config.entry import MOST_VALUES, Entry, Parameter, combinations, fill
from assay.config.entry_name import OWN_FILES
from assay.errors import UsageError

_LONGEST_NAME = 60


@dataclass(frozen=True)
class CommandLines:
    """Commands of a user's, without YAML, and what is done around each run of them."""

    lines: tuple[str, ...]
    """Each as a shell would read it; no shell does, unless one is named."""
    timeout_s: float
    shell: str | None = None
    """Program that is given a line with `-c`."""
    prepare: tuple[str, ...] = ()
    """One for all commands, or one for each; so is `cleanup`."""
    cleanup: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()

    def entries(self) -> tuple[Entry, ...]:
        """One for each command and each value of its parameters."""
        self._check()
        found = [
            self._entry(at, values)
            for at in range(len(self.lines))
            for values in combinations([p for p in self.parameters if self._uses(at, p)])
        ]
        if len(found) > MOST_VALUES:
            raise UsageError(f"commands and parameters make {len(found):,} entries: at most {MOST_VALUES:,} are run")
        return _name_entries(found, [self._words(entry) for entry in found])

    def _check(self) -> None:
        for option, given in (("--prepare", self.prepare), ("--cleanup", self.cleanup)):
            if len(given) not in (0, 1, len(self.lines)):
                count = f"{len(given)} times for {len(self.lines)} command{'s' if len(self.lines) > 1 else ''}"
                raise UsageError(f"{option} is given {count}: give it once, or once for each")
        for parameter in self.parameters:
            if not any(self._uses(at, parameter) for at in range(len(self.lines))):
                raise UsageError(f"no command has {{{parameter.name}}}, so its values would make no difference")

    def _uses(self, at: int, parameter: Parameter) -> bool:
        said = (self.lines[at], _for(self.prepare, at), _for(self.cleanup, at))
        return any(f"{{{parameter.name}}}" in line for line in said if line)

    def _entry(self, at: int, values: Mapping[str, str]) -> Entry:
        argv = self._argv(self.lines[at], values, "the command")
        prepare, cleanup = _for(self.prepare, at), _for(self.cleanup, at)
        return Entry(
            name="",
            program=argv[:1],
            args=escape_braces(argv[1:]),
            timeout_s=self.timeout_s,
            where="the command line",
            prepare=self._argv(prepare, values, "--prepare") if prepare else (),
            cleanup=self._argv(cleanup, values, "--cleanup") if cleanup else (),
            parameters=values,
        )

    def _argv(self, line: str, values: Mapping[str, str], what: str) -> tuple[str, ...]:
        """Split before values are put in, so that a value with a space stays one argument; a shell splits itself."""
        if self.shell is not None:
            return self.shell, "-c", fill(line, values)
        words = split_line(line, what)
        if not words:
            raise UsageError(f"{what} is empty")
        return tuple(fill(word, values) for word in words)

    def _words(self, entry: Entry) -> list[str]:
        """What an entry is named for."""
        written = entry.args[-1].split() if self.shell is not None else [*entry.program, *entry.args]
        return written or ["command"]


def split_line(line: str, what: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{what} {line!r} cannot be split into words: {error}") from None


def entry_name(words: Sequence[str]) -> str:
    """Name of an entry, made from its program, or from more of its words."""
    written = "-".join(Path(word).name.lstrip("-") for word in words)
    shown = "".join(letter for letter in written if letter.isascii() and (letter.isalnum() or letter in "._-="))
    named = shown.lstrip(".-_=")[:_LONGEST_NAME] or "command"
    return f"command-{named}" if named.lower() in OWN_FILES else named


def escape_braces(words: Sequence[str]) -> tuple[str, ...]:
    """Words in which braces are doubled, so that they are no placeholders."""
    return tuple(word.replace("{", "{{").replace("}", "}}") for word in words)


def _for(given: tuple[str, ...], at: int) -> str | None:
    return given[at if len(given) > 1 else 0] if given else None


def _name_entries(entries: Sequence[Entry], words: Sequence[Sequence[str]]) -> tuple[Entry, ...]:
    """Entries named for their programs and the values of a scan where that tells them apart; otherwise for all their
    words."""
    from dataclasses import replace

    def name(entry: Entry, said: Sequence[str]) -> str:
        values = [f"{key}={value}" for key, value in entry.parameters.items()]
        return entry_name([*said, *values])

    names = [name(entry, said[:1]) for entry, said in zip(entries, words, strict=True)]
    if len(set(names)) < len(names):
        names = [name(entry, said) for entry, said in zip(entries, words, strict=True)]
    told: list[str] = []
    for one in names:
        again = sum(known == one or known.startswith(f"{one}.") for known in told)
        told.append(f"{one}.{again + 1}" if one in told else one)
    return tuple(replace(entry, name=one) for entry, one in zip(entries, told, strict=True))
