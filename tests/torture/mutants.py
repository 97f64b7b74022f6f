"""Files that are almost right: every place of a JSON document with every kind of wrong value in it.

A document of Assay is taken apart into its places (`usage.cpu_s`, `planned[0]`), and each is replaced in turn by what a
damaged disk, another tool or an attacker could have left there. The same list comes out each time, so that a finding is
named by what was done (`results.jsonl: usage.cpu_s := NaN`) and can be made again.

    for mutant in json_mutants(json.loads(text)):
        path.write_bytes(mutant.data)

`yaml_mutants` does the same for a configuration: the wrong JSON value is written where the right one stood, and JSON is
YAML. `torn` is for what is not of any structure: cut, doubled and changed bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Place = tuple[str | int, ...]

WRONG: dict[str, str] = {
    "null": "null",
    "true": "true",
    "false": "false",
    "zero": "0",
    "negative": "-7",
    "fraction": "0.5",
    "NaN": "NaN",
    "tagged nan": '{"$float": "nan"}',
    "infinity": "-Infinity",
    "too large for a float": "9" * 400,
    "too large for 64 bits": str(2**63),
    "float out of time": "1e300",
    "empty text": '""',
    "word": '"word"',
    "long text": json.dumps("n" * 5000),
    "path outside": '"../../outside"',
    "root path": '"/"',
    "terminal control": r'"\u001b[2J\u0000\u009b"',
    "null character": r'"a\u0000b"',
    "half a surrogate pair": r'"\ud800x"',
    "right to left": r'"\u202eabc"',
    "first time": '"0001-01-01T00:00:00+23:59"',
    "last time": '"9999-12-31T23:59:59-23:59"',
    "time without zone": '"2026-03-01T02:00:00"',
    "empty list": "[]",
    "list": '[1, "two", null, {}]',
    "list of lists": "[[[]]]",
    "empty object": "{}",
    "object": '{"value": {"value": [1]}, "unit": {}, "samples": {"a": 1}, "better": []}',
    "samples": '{"value": 1, "samples": [1, "x", null, NaN, 1e999, true], "margin": -1, "better": "up", "exact": 3}',
    "deep": "[" * 80 + "]" * 80,
    "too deep": "[" * 5000 + "]" * 5000,
}
"""Name → JSON text of a wrong value."""

_HERE = "@the mutated value@"


@dataclass(frozen=True)
class Mutant:
    """One damaged file. `what` says how it differs from the right one."""

    what: str
    data: bytes


def json_mutants(document: Any) -> Iterator[Mutant]:
    """Every place with every wrong value, and every key missing once."""
    for place in places(document):
        for name, text in WRONG.items():
            yield Mutant(f"{said(place)} := {name}", _written(document, place, text))
        if place and isinstance(place[-1], str):
            yield Mutant(f"{said(place)} missing", json.dumps(_without(document, place)).encode())


def yaml_mutants(document: Any) -> Iterator[Mutant]:
    """Mutants as JSON, which is YAML; what only YAML can say is tried by hand."""
    yield from json_mutants(document)


def torn(data: bytes, count: int, seed: int = 0) -> Iterator[Mutant]:
    """Cut, doubled and changed bytes, drawn from a seed."""
    rng = random.Random(seed)
    for number in range(count):
        at, to = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        kind = rng.choice(("cut", "doubled", "changed", "without"))
        if kind == "cut":
            made = data[:at]
        elif kind == "doubled":
            made = data[:to] + data[at:]
        elif kind == "without":
            made = data[:at] + data[to:]
        else:
            made = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        yield Mutant(f"{kind} at {at} to {to} (seed {seed}, number {number})", made)


def sampled(mutants: Iterator[Mutant], count: int, seed: int = 0) -> list[Mutant]:
    """So many of them, drawn from a seed; all where there are fewer."""
    every = list(mutants)
    return every if len(every) <= count else random.Random(seed).sample(every, count)


def places(document: Any, inside: Place = ()) -> Iterator[Place]:
    """The document itself first, then what is in it, parents before children."""
    yield inside
    items = document.items() if isinstance(document, dict) else enumerate(document) if _is_list(document) else ()
    for key, value in items:
        yield from places(value, (*inside, key))


def said(place: Place) -> str:
    """`usage.cpu_s`, `planned[0]`; of the document itself `all`."""
    words = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)
    return words.removeprefix(".") or "all"


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _written(document: Any, place: Place, text: str) -> bytes:
    return json.dumps(_put(document, place, _HERE)).replace(json.dumps(_HERE), text).encode()


def _put(document: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    copy = list(document) if _is_list(document) else dict(document)
    copy[place[0]] = _put(document[place[0]], place[1:], value)
    return copy


def _without(document: Any, place: Place) -> Any:
    copy = list(document) if _is_list(document) else dict(document)
    if len(place) == 1:
        del copy[place[0]]
    else:
        copy[place[0]] = _without(document[place[0]], place[1:])
    return copy
