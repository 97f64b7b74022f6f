"""The part of a Dockerfile's language that docker/Dockerfile uses. What is not known is an error, never skipped."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

_KNOWN = ("ARG", "FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD")


@dataclass(frozen=True)
class Step:
    """One instruction; `line` is where it begins."""

    word: str
    rest: str
    line: int


@dataclass
class Stage:
    name: str
    base: str
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Dockerfile:
    stages: tuple[Stage, ...]
    arguments: Mapping[str, str]
    """Those before the first stage, with what was given for them."""

    @classmethod
    def read(cls, path: Path, given: Mapping[str, str]) -> Dockerfile:
        stages: list[Stage] = []
        arguments: dict[str, str] = {}
        for step in steps(path.read_text(encoding="utf-8")):
            if step.word == "FROM":
                words = expand(step.rest, arguments).split()
                stages.append(Stage(words[2] if len(words) == 3 else str(len(stages)), words[0]))
            elif stages:
                stages[-1].steps.append(step)
            elif step.word == "ARG":
                name, _, value = step.rest.partition("=")
                arguments[name] = given.get(name, value)
            else:
                raise ValueError(f"{path}:{step.line}: {step.word} before the first FROM")
        return cls(tuple(stages), arguments)

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)


def steps(text: str) -> list[Step]:
    found: list[Step] = []
    held, begin = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or (not line.strip() and not held):
            continue
        begin = begin if held else number
        held += line
        if held.endswith("\\"):
            held = held[:-1] + "\n"
            continue
        word, _, rest = held.strip().partition(" ")
        if word not in _KNOWN:
            raise ValueError(f"line {begin}: {word} is not carried out here; known are {', '.join(_KNOWN)}")
        found.append(Step(word, rest.strip(), begin))
        held = ""
    return found


def expand(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$\{?(\w+)\}?", lambda match: values.get(match[1], ""), text)


def words(text: str) -> list[str]:
    """Words of ENTRYPOINT and CMD, which are JSON."""
    given = json.loads(text)
    if not isinstance(given, list):
        raise ValueError(f"{text} is not a list")
    return [str(word) for word in given]


def pairs(text: str, values: Mapping[str, str]) -> dict[str, str]:
    """Variables of ENV; every value sees what was there before the instruction."""
    found = (word.partition("=") for word in shlex.split(text.replace("\n", " ")))
    return {name: expand(value, values) for name, _, value in found}


@dataclass(frozen=True)
class Ignored:
    """`.dockerignore`: of the patterns that a path or a folder above it matches the last one decides."""

    patterns: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Ignored:
        lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
        return cls(tuple(line for line in lines if line and not line.startswith("#")))

    def __call__(self, path: PurePosixPath) -> bool:
        ignored = False
        places = [place for place in (path, *path.parents) if place.name]
        for pattern in self.patterns:
            parts = pattern.lstrip("!").split("/")
            if any(_matches(place.parts, parts) for place in places):
                ignored = not pattern.startswith("!")
        return ignored


def _matches(path: tuple[str, ...], pattern: list[str]) -> bool:
    if not pattern or not path:
        return not pattern and not path
    if pattern[0] == "**":
        return _matches(path, pattern[1:]) or _matches(path[1:], pattern)
    return PurePosixPath(path[0]).match(pattern[0]) and _matches(path[1:], pattern[1:])
