"""Change points of Assay, Otava and PELT on the same series: what is found, what is false, where it is said to be."""

from __future__ import annotations

import csv
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from bench.truth.change_methods import otava, pelt_bic
from bench.truth.change_series import NIGHTS, STEPPED, STILL, drifting, normal

from assay.stats.changes import LevelChange, find_changes, level_since

Table = Callable[[str, Sequence[str], Sequence[Sequence[str]]], None]
Target = Callable[[str, float, float, bool], None]
WITHIN = 2
"""Nights that a step may be off and still count as found."""
NEAR = 12
"""Nights within which a change that is found is that of a step, for judging its range."""
PEERS = 4
"""The others are asked one series of so many, and at most `_MOST`: they are slower."""
_MOST = 250


def still(trials: Callable[[int], int], table: Table, target: Target, seed: int = 61) -> None:
    rows = []
    for number, (name, (noise, most)) in enumerate(STILL.items()):
        rng = np.random.default_rng([seed, number])
        many = [np.exp(noise(rng, NIGHTS)) for _ in range(trials(1000))]
        ours = float(np.mean([len(find_changes(values)) for values in many]))
        if most is not None:
            target(f"change points in {NIGHTS} still values, {name}: false ones", ours, most, False)
        theirs = [_mean(called) for called in _peers(many)]
        rows.append([name, f"{ours:.3f}", *theirs, "–" if most is None else f"≤ {most:g}"])
    table(f"False change points a series of {NIGHTS}", ["noise", "assay", "Otava", "PELT, BIC", "target"], rows)


def stepped(trials: Callable[[int], int], table: Table, target: Target, seed: int = 62) -> None:
    rows = []
    for number, (name, (made, least)) in enumerate(STEPPED.items()):
        rng = np.random.default_rng([seed, number])
        many, truths = zip(*(made(rng) for _ in range(trials(1000))), strict=True)
        changes = [find_changes(values) for values in many]
        found, more = _found([[c.index for c in one] for one in changes], truths)
        holds, width = _ranges(changes, truths)
        if least is not None:
            target(f"change points, {name}: found", found, least, True)
        target(f"change points, {name}: the range holds the step", holds, 0.95, True)
        if name == "+10%, 60 behind, 2%":
            target(f"change points, {name}: median width of the range", width, 3, False)
        theirs = []
        for called in _peers(many):
            hit, extra = _found(called, truths[:: _every(len(many))]) if called is not None else (None, None)
            theirs.append("–" if hit is None else f"{hit:.3f} / {extra:.2f}")
        rows.append([name, f"{found:.3f} / {more:.2f}", *theirs, f"{holds:.3f}", f"{width:g}",
                     "–" if least is None else f"≥ {least:g}"])  # fmt: skip
    table(
        f"Steps found within {WITHIN} nights / others called, a series",
        ["steps and noise", "assay", "Otava", "PELT, BIC", "range holds it", "median nights", "target found"],
        rows,
    )


def nightly(trials: Callable[[int], int], table: Table, seed: int = 63) -> None:
    """`level_since` on every night of a year without a step: it should stay 0."""
    rows = []
    for name, noise in (("normal 2%", normal(0.02)), ("AR .6", drifting(0.6))):
        rng = np.random.default_rng(seed)
        moves = []
        for _ in range(trials(100)):
            values = np.exp(noise(rng, 30 + 365))
            since = np.array([level_since(values[:night]) for night in range(30, values.size + 1)])
            moves.append(int((np.diff(since) > 0).sum()))
        rows.append([name, f"{np.mean(moves):.2f}", f"{np.mean(np.array(moves) > 0):.2f}"])
    table("`level_since` looked at on 365 nights", ["noise", "times it moved on", "series in which it ever did"], rows)


def long_series(table: Table, target: Target) -> None:
    rng = np.random.default_rng(64)
    made = {
        "normal 2%": rng.normal(0, 0.02, 2000),
        "a step every 20 nights": 0.1 * (np.arange(2000) // 20 % 2) + rng.normal(0, 0.01, 2000),
        "random walk": np.cumsum(rng.normal(0, 0.02, 2000)),
        "steady growth": np.log(np.arange(1, 2001)),
    }
    rows = []
    for name, logs in made.items():
        took = []
        for _ in range(5):
            start = time.process_time()
            find_changes(np.exp(logs))
            took.append(1000 * (time.process_time() - start))
        target(f"2,000 values, {name}: ms of CPU time", min(took), 100, False)
        rows.append([name, f"{min(took):.0f} ms"])
    table("Change points in 2,000 values", ["series", "CPU time"], rows)


def real_series(table: Table) -> None:
    """A table of the series in the folder `ASSAY_SERIES`, without judgement: a file each, a JSON list or the last
    column of a CSV."""
    folder = os.environ.get("ASSAY_SERIES")
    if not folder:
        return
    paths = sorted(path for path in Path(folder).iterdir() if path.suffix in (".json", ".csv"))
    rows = []
    for path in paths:
        values = _read(path)
        ours = ", ".join(_words(change) for change in find_changes(values)) or "none"
        theirs = otava([values])
        rows.append([path.name, str(values.size), ours, _list(theirs[0] if theirs else None), _list(pelt_bic(values))])
    table(f"Real series of {folder}", ["file", "values", "assay", "Otava", "PELT, BIC"], rows)


def _list(indices: list[int] | None) -> str:
    return "–" if indices is None else ", ".join(map(str, indices)) or "none"


def _words(change: LevelChange) -> str:
    where = "" if change.earliest == change.latest else f" ({change.earliest}–{change.latest})"
    return f"{change.index}{where}" + (f" ×{change.ratio:.3g}" if change.ratio is not None else "")


def _read(path: Path) -> np.ndarray:
    if path.suffix == ".json":
        return np.array([value for value in json.loads(path.read_text()) if value is not None], dtype=float)
    values = []
    for row in csv.reader(path.read_text().splitlines()):
        try:
            values.append(float(row[-1]))
        except (ValueError, IndexError):
            continue
    return np.array([value for value in values if np.isfinite(value)])


def _every(count: int) -> int:
    return max(PEERS, count // _MOST)


def _peers(many: Sequence[np.ndarray]) -> tuple[list[list[int]] | None, list[list[int]]]:
    some = many[:: _every(len(many))]
    return otava(some), [pelt_bic(values) for values in some]


def _mean(called: list[list[int]] | None) -> str:
    return "–" if called is None else f"{np.mean([len(one) for one in called]):.3f}"


def _found(called: Sequence[Sequence[int]], truths: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Share of all steps, and how many a series were called that are none; one call counts for one step."""
    hits, steps, others = 0, 0, 0
    for indices, truth in zip(called, truths, strict=True):
        left = list(indices)
        for step in truth:
            near = min(left, key=lambda index: abs(index - step), default=None)
            if near is not None and abs(near - step) <= WITHIN:
                left.remove(near)
                hits += 1
        steps += len(truth)
        others += len(left)
    return hits / steps, others / len(called)


def _ranges(changes: Sequence[Sequence[LevelChange]], truths: Sequence[Sequence[int]]) -> tuple[float, float]:
    holds, widths = [], []
    for found, truth in zip(changes, truths, strict=True):
        for step in truth:
            near = min(found, key=lambda change: abs(change.index - step), default=None)
            if near is not None and abs(near.index - step) <= NEAR:
                holds.append(near.earliest <= step <= near.latest)
                widths.append(near.latest - near.earliest + 1)
    return float(np.mean(holds)), float(np.median(widths))
