from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import product

from assay.errors import UsageError

MOST_VALUES = 1000
"""Values of one scan, and entries of one call: a slip of the pen must not plan a million runs."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Parameter:
    """A name on the command line and the values that stand for `{name}` one after the other."""

    name: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, line: str) -> Parameter:
        """Reads a parameter as a session keeps it: `threads=1,2,4`."""
        name, _, values = line.partition("=")
        return cls.listed(name, values)

    @classmethod
    def listed(cls, name: str, values: str) -> Parameter:
        """`1,2,4`; a comma of a value is written `\\,`."""
        said = [value.replace("\\,", ",") for value in re.split(r"(?<!\\),", values)]
        if not all(said):
            raise UsageError(f"--parameter {name} {values!r}: write values with commas between them, such as 1,2,4")
        return cls(_check_name(name, "--parameter"), tuple(dict.fromkeys(said)))

    @classmethod
    def scanned(cls, words: Sequence[str]) -> Parameter:
        """NAME MIN MAX [STEP], both ends included; decimal, so that 0.1 steps stay what they are."""
        said = " ".join(words)
        if len(words) not in (3, 4):
            raise UsageError(f"--parameter-scan {said}: write NAME MIN MAX, and STEP if it is not 1")
        try:
            low, high, step = (Decimal(word) for word in (*words[1:], "1")[:3])
        except InvalidOperation:
            raise UsageError(f"--parameter-scan {said}: MIN, MAX and STEP are numbers") from None
        if not all(value.is_finite() for value in (low, high, step)) or step <= 0 or high < low:
            raise UsageError(f"--parameter-scan {said}: MIN must not be above MAX, and STEP must be above 0")
        count = int((high - low) / step) + 1
        if count > MOST_VALUES:
            raise UsageError(f"--parameter-scan {said} has {count:,} values: at most {MOST_VALUES:,} are run")
        return cls(_check_name(words[0], "--parameter-scan"), tuple(f"{low + at * step:f}" for at in range(count)))

    @property
    def line(self) -> str:
        return f"{self.name}=" + ",".join(value.replace(",", "\\,") for value in self.values)


def _check_name(name: str, option: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{option} {name}: a name has letters, digits, _ and -, and begins with a letter")
    return name


def combinations(parameters: Sequence[Parameter]) -> Iterator[Mapping[str, str]]:
    """Each value of each with each of the others; one without anything where there are no parameters."""
    names = [parameter.name for parameter in parameters]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"parameter {twice} is given twice: write all its values into one")
    for values in product(*(parameter.values for parameter in parameters)):
        yield dict(zip(names, values, strict=True))


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with `{name}` replaced by its value; every other brace stays as it is."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
