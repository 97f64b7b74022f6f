"""The strict reading of one manifest line. Every line the compiled pass is not sure of comes here."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from assay.pipeline import Batch


@dataclass(frozen=True)
class BadLine:
    """Where a manifest is wrong. The line's number is counted only when a person is to read it."""

    path: str
    offset: int
    field: str
    problem: str

    def __str__(self) -> str:
        return describe([self])[0]


def describe(bad: Sequence[BadLine]) -> list[str]:
    """`file:line: field: problem`, in the order given; each file is gone through once."""
    from assay.stages.alm.manifest_reader import line_numbers

    offsets: dict[str, set[int]] = {}
    for one in bad:
        offsets.setdefault(one.path, set()).add(one.offset)
    lines = {path: line_numbers(path, sorted(wanted)) for path, wanted in offsets.items()}
    return [
        f"{one.path}:{lines[one.path][one.offset]}: {one.field + ': ' if one.field else ''}{one.problem}" for one in bad
    ]


class FieldError(ValueError):
    """A recording that the rules cannot be applied to; whoever knows the file and line adds them."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem


LARGEST = 2.0**53
"""Beyond it a float no longer holds every integer, and integers and floats would give different sums."""
LARGEST_FLOAT = 1e300
"""Beyond it a recording's durations could add up to infinity, which JSON cannot hold."""


def parse_recording(line: bytes) -> dict[str, Any]:
    entry = _loads(line)
    if not isinstance(entry, dict):
        raise FieldError("", f"a recording is a JSON object, this is {_kind(entry)}")
    if "segments" not in entry:
        raise FieldError("segments", "missing")
    segments = entry["segments"]
    if not isinstance(segments, list):
        raise FieldError("segments", f"should be a list, is {_kind(segments)}")
    number(entry.get("audio_sample_rate", 0), "audio_sample_rate")
    for index, segment in enumerate(segments):
        _check_segment(segment, f"segments[{index}]")
    return entry


def normal_form(value: Any) -> str:
    """How output is written, byte for byte: what `json.dumps` makes of it, text left readable."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def number(value: Any, field: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldError(field, f"should be a number, is {_kind(value)}")
    if abs(value) >= (LARGEST if isinstance(value, int) else LARGEST_FLOAT):
        raise FieldError(field, "is too large a number")


def _check_segment(segment: Any, field: str) -> None:
    if not isinstance(segment, dict):
        raise FieldError(field, f"should be an object, is {_kind(segment)}")
    for name in ("start", "end"):
        if name not in segment:
            raise FieldError(f"{field}.{name}", "missing")
        number(segment[name], f"{field}.{name}")
    speaker = segment.get("speaker")
    if isinstance(speaker, bool) or not isinstance(speaker, str | int | None):
        raise FieldError(f"{field}.speaker", f"should be a string, an integer or null, is {_kind(speaker)}")
    metrics = segment.get("metrics", {})
    if not isinstance(metrics, dict):
        raise FieldError(f"{field}.metrics", f"should be an object, is {_kind(metrics)}")
    number(metrics.get("bandwidth", 0), f"{field}.metrics.bandwidth")


def _loads(line: bytes) -> Any:
    try:
        text = line.decode()
        entry = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
        if "\\u" in text:
            # An escape can name half of a character, which no UTF-8 file can hold.
            normal_form(entry).encode()
        return entry
    except UnicodeDecodeError as error:
        raise FieldError("", f"is not UTF-8 (byte {error.start + 1} of the line)") from None
    except UnicodeEncodeError:
        raise FieldError("", "broken JSON: an escape names half of a surrogate pair") from None
    except json.JSONDecodeError as error:
        raise FieldError("", f"broken JSON: {error.msg} at column {error.pos + 1}") from None
    except RecursionError:
        raise FieldError("", "is nested too deeply") from None
    except FieldError:
        raise
    except ValueError as error:
        raise FieldError("", f"broken JSON: {error}") from None


def _no_constant(name: str) -> NoReturn:
    raise FieldError("", f"broken JSON: {name} is not a JSON value")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise FieldError("", f"broken JSON: {text[:20]} is too large a number")
    return value


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), "a number") + (f" ({value[:20]!r})" if isinstance(value, str) else "")


BLANK = b" \t\r"


@dataclass(frozen=True)
class Lines(Batch):
    """Whole lines of a manifest as they are in the file, blank ones among them. Nothing is parsed yet."""

    data: bytes
    path: str
    offset: int
    """Where the first byte is in the file."""
    count: int
    """Lines that are not blank."""
    period: int = 0
    """Not 0: the same bytes over and over, each time this many (a repeated entry)."""
    bad: tuple[BadLine, ...] = ()
    """Lines the reader had to leave out."""

    def __len__(self) -> int:
        return self.count

    def file_offset(self, position: int) -> int:
        return self.offset + (position % self.period if self.period else position)

    def positions(self) -> Iterator[tuple[int, int]]:
        """Start and end of every line that is not blank, without the white space around it."""
        start = 0
        while start < len(self.data):
            end = self.data.find(b"\n", start)
            end = len(self.data) if end < 0 else end
            line = self.data[start:end].lstrip(BLANK)
            if line:
                yield end - len(line), end - len(line) + len(line.rstrip(BLANK))
            start = end + 1

    def slice(self, start: int, stop: int) -> Self:
        rows = list(self.positions())[start:stop]
        if not rows:
            return type(self)(b"", self.path, self.offset, 0)
        first, last = rows[0][0], rows[-1][1]
        return type(self)(self.data[first:last], self.path, self.file_offset(first), len(rows), self.period)

    @classmethod
    def concat(cls, batches: Sequence[Self]) -> Self:
        if len(batches) > 1:
            raise TypeError("lines of a manifest are not joined: a bad one could no longer be found in its file")
        return batches[0]


def count_lines(data: bytes) -> int:
    """Lines that are not blank."""
    from assay.stages.alm.kernel import library

    compiled = library() if len(data) > 2**16 else None
    if compiled is not None:
        return int(compiled.alm_lines(data, len(data)))
    return sum(1 for line in data.split(b"\n") if line.strip(BLANK))
