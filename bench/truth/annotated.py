"""How well change points agree with people: series of performance tests in which several engineers marked the changes.

`make bench-truth MOZILLA=DIR` reads two files in DIR, in the shape of Mozilla's annotated performance series
(DOI 10.5281/zenodo.20381265; none of the data is kept here):

- `series.csv`: columns `series`, `index` (0, 1, … in order of time) and `value`; others are passed over.
- `annotations.json`: `{series: {engineer: [index, …]}}`; `[]` where that engineer saw no change.

Two scores. A point counts as found within `MARGIN` values, and each point pairs with one other at most.

- *any*, as van den Burg and Williams define it ("An evaluation of change point detection algorithms",
  arXiv:2003.06222): precision against what anybody marked, recall against each engineer and then the mean, index 0 a
  point of everybody. Mean over the series.
- *half*: points that at least half of the engineers marked; those of one place lie within `SAME` values. The points of
  all series are counted together, so that a series with many changes counts for more.

The human is left out in turn: each engineer against the others.
"""

from __future__ import annotations

import csv
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from bench.truth.change_methods import otava_timed, ours, pelt_bic

from assay.errors import AssayError, DataError, UsageError

MARGIN = 5
SAME = 10
RESAMPLES = 2000
SERIES, ANNOTATIONS = "series.csv", "annotations.json"
_FEWEST_ENGINEERS = 2

Points = Sequence[int]


@dataclass(frozen=True)
class Annotated:
    name: str
    values: np.ndarray
    marked: dict[str, Points]
    """What each engineer marked."""


def read(folder: Path) -> list[Annotated]:
    """Raise DataError with file and line if either file is not what it should be."""
    values = _read_series(folder / SERIES)
    marked = _read_annotations(folder / ANNOTATIONS, {name: len(one) for name, one in values.items()})
    return [Annotated(name, np.array(values[name]), engineers) for name, engineers in marked.items()]


def _open(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise DataError(
            f"{path} can't be read ({reason}). MOZILLA should name a folder with {SERIES} and {ANNOTATIONS}."
        ) from None


def _read_series(path: Path) -> dict[str, list[float]]:
    rows = csv.DictReader(_open(path).splitlines(), strict=True)
    try:
        return _values(rows, path)
    except csv.Error as error:
        raise DataError(f"{path}:{rows.reader.line_num}: not CSV: {error}") from None


def _values(rows: csv.DictReader[str], path: Path) -> dict[str, list[float]]:
    missing = [name for name in ("series", "index", "value") if name not in (rows.fieldnames or ())]
    if missing:
        raise DataError(f"{path}:1: no column {', '.join(missing)}")
    values: dict[str, list[float]] = {}
    for row in rows:
        where = f"{path}:{rows.line_num}"
        known = values.setdefault(row["series"], [])
        if row["index"] != str(len(known)):
            raise DataError(f"{where}: the index is {row['index']!r}; series {row['series']} goes on with {len(known)}")
        known.append(_number(row["value"], where))
    if not values:
        raise DataError(f"{path}:1: no series")
    return values


def _number(text: str | None, where: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{where}: the value is {text!r}; it should be a finite number")
    return value


def _read_annotations(path: Path, lengths: dict[str, int]) -> dict[str, dict[str, Points]]:
    text = _open(path)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: not JSON: {error.msg}") from None
    if not isinstance(content, dict):
        raise DataError(f"{path}:1: should be an object of series")
    for name, engineers in content.items():
        where = f"{path}:{_line(text, name)}: series {name}"
        if name not in lengths:
            raise DataError(f"{where} is not in {SERIES}")
        if not isinstance(engineers, dict) or len(engineers) < _FEWEST_ENGINEERS:
            raise DataError(f"{where} should have {_FEWEST_ENGINEERS} engineers or more")
        for engineer, points in engineers.items():
            if not isinstance(points, list):
                raise DataError(f"{where}: engineer {engineer} should have a list of indices, has {points!r}")
            for point in points:
                if type(point) is not int or not 0 <= point < lengths[name]:
                    raise DataError(f"{where}: engineer {engineer} has {point!r}; indices are 0 to {lengths[name] - 1}")
    unmarked = next((name for name in lengths if name not in content), None)
    if unmarked is not None:
        raise DataError(f"{path}: nothing about series {unmarked} of {SERIES}")
    return {name: {who: sorted(set(points)) for who, points in one.items()} for name, one in content.items()}


def _line(text: str, name: str) -> int:
    """Where `name` stands as a key; JSON text that a program wrote has it once."""
    key = re.search(re.escape(json.dumps(name)) + r"\s*:", text)
    return text.count("\n", 0, key.start()) + 1 if key else 1


def paired(truth: Points, called: Points, margin: int = MARGIN) -> int:
    """How many points of `truth` have one of `called` within the margin, each of which is taken once."""
    found, at = 0, 0
    candidates = sorted(called)
    # In order, the earliest that is near enough leaves most to those that follow.
    for point in sorted(truth):
        while at < len(candidates) and candidates[at] < point - margin:
            at += 1
        if at < len(candidates) and candidates[at] <= point + margin:
            found, at = found + 1, at + 1
    return found


def agreed(marked: Sequence[Points]) -> list[int]:
    """Places that at least half of the engineers marked: the median of their points."""
    every = sorted((point, who) for who, points in enumerate(marked) for point in points)
    places = []
    while every:
        # The `SAME` values in which most of those left marked a point; the earliest of equals.
        group = max(
            ([one for one in every if first <= one[0] <= first + SAME] for first, _ in every),
            key=lambda near: len({who for _, who in near}),
        )
        if 2 * len({who for _, who in group}) < len(marked):
            break
        places.append(int(median(point for point, _ in group)))
        every = [one for one in every if one not in group]
    return sorted(places)


def score_any(called: Points, marked: Sequence[Points]) -> tuple[float, float, float]:
    """Precision, recall and F1."""
    mine = {0, *called}
    precision = paired(sorted({0}.union(*marked)), sorted(mine)) / len(mine)
    recall = float(np.mean([paired(sorted({0, *one}), sorted(mine)) / len({0, *one}) for one in marked]))
    return precision, recall, _harmonic(precision, recall)


def count_half(called: Points, marked: Sequence[Points]) -> tuple[int, int, int]:
    """Points found, points called, and points that at least half of the engineers marked."""
    truth = agreed(marked)
    return paired(truth, called), len(called), len(truth)


def _harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(frozen=True)
class Method:
    name: str
    any: np.ndarray
    """One row per series: precision, recall, F1."""
    half: np.ndarray
    """One row per series: found, called, points."""
    cpu_s: float | None
    """Mean per series."""

    def figures(self, picked: np.ndarray) -> np.ndarray:
        """Precision, recall and F1 of *any*, then of *half*, for the series `picked`."""
        hit, called, points = self.half[picked].sum(axis=0)
        p, r = hit / called if called else 0.0, hit / points if points else 0.0
        return np.array([*self.any[picked].mean(axis=0), p, r, _harmonic(p, r)])


def program(name: str, found: Sequence[tuple[Points, float]], series: Sequence[Annotated]) -> Method:
    marks = [list(one.marked.values()) for one in series]
    return Method(
        name,
        np.array([score_any(called, them) for (called, _), them in zip(found, marks, strict=True)]),
        np.array([count_half(called, them) for (called, _), them in zip(found, marks, strict=True)], dtype=float),
        float(np.mean([took for _, took in found])),
    )


def human(series: Sequence[Annotated]) -> Method:
    """Each engineer against the others; a series counts once, whatever the number of its engineers."""
    of_any, of_half = [], []
    for one in series:
        turns = list(_turns(list(one.marked.values())))
        of_any.append(np.mean([score_any(left, others) for left, others in turns], axis=0))
        of_half.append(np.mean([count_half(left, others) for left, others in turns], axis=0))
    return Method("one engineer", np.array(of_any), np.array(of_half), None)


def _turns(marked: Sequence[Points]) -> Iterator[tuple[Points, list[Points]]]:
    for at, left in enumerate(marked):
        yield left, [*marked[:at], *marked[at + 1 :]]


def timed(method: Callable[[np.ndarray], list[int]], series: Sequence[Annotated]) -> list[tuple[Points, float]]:
    method(series[0].values)  # What is imported on first use is not the method's cost.
    found: list[tuple[Points, float]] = []
    for one in series:
        start = time.process_time()
        called = method(one.values)
        found.append((called, time.process_time() - start))
    return found


def compare(series: Sequence[Annotated]) -> list[Method]:
    methods = [program("assay", timed(ours, series), series)]
    theirs = otava_timed([one.values for one in series])
    if theirs is not None:
        methods.append(program("Otava", theirs, series))
    return [*methods, program("PELT, BIC", timed(pelt_bic, series), series), human(series)]


def report(series: Sequence[Annotated], methods: Sequence[Method], table: Callable[..., None], seed: int = 71) -> None:
    """Print both tables; intervals are 95% of `RESAMPLES` bootstrap samples of the series, the same for all methods."""
    values, engineers = sum(one.values.size for one in series), [len(one.marked) for one in series]
    few, many = min(engineers), max(engineers)
    print(f"\n{len(series)} series, {values:,} values, {few} to {many} engineers each. Margin: {MARGIN} values.")
    picks = np.random.default_rng(seed).integers(0, len(series), (RESAMPLES, len(series)))
    drawn = [np.array([method.figures(pick) for pick in picks]) for method in methods]
    whole = [method.figures(np.arange(len(series))) for method in methods]
    for title, first in (
        ("*any*: against everybody's points, mean over the series", 0),
        ("*half*: against the points that half of the engineers marked, all counted together", 3),
    ):
        rows = []
        for method, exact, samples in zip(methods, whole, drawn, strict=True):
            cells = [_interval(exact[at], samples[:, at]) for at in range(first, first + 3)]
            apart = _interval(whole[0][first + 2] - exact[first + 2], drawn[0][:, first + 2] - samples[:, first + 2])
            cpu = "–" if method.cpu_s is None else f"{1000 * method.cpu_s:.1f} ms"
            hit, called, points = method.half.sum(axis=0)
            counts = [f"{called:.0f}", f"{hit:.0f} of {points:.0f}"] if first else [f"{called:.0f}"]
            rows.append([method.name, *cells, "–" if method is methods[0] else apart, *counts, cpu])
        head = ["", "precision", "recall", "F1", "assay's F1 − its F1", "called", "CPU time per series"]
        table(title, [*head[:6], *(["found"] if first else []), head[6]], rows)
    if len(methods) < 4:
        print("\nNo Otava: `make bench-truth` installs it and names its Python in ASSAY_OTAVA.")


def _interval(value: float, samples: np.ndarray) -> str:
    low, high = np.quantile(samples, (0.025, 0.975))
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def run(folder: str, table: Callable[..., None]) -> int:
    try:
        if not Path(folder).is_dir():
            raise UsageError(f"MOZILLA={folder}: no such folder")
        series = read(Path(folder))
    except AssayError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    report(series, compare(series), table)
    return 0
