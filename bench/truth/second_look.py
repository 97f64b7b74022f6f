"""`assay.analysis.judge` on noise of other kinds than the first generator's: pairs, sessions with a past, nights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from bench.truth.noises import NOISES, random_pairs

from assay.analysis import Verdict, judge
from assay.analysis.evidence import evidence
from assay.analysis.judgement import Judgement, judge_evidence
from assay.analysis.rules import DEFAULT_MARGIN
from assay.stats.nightly import nights as watched
from assay.stats.shift import adjust, count_among

CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)
Target = Callable[[str, float, float, bool], None]
Table = list[list[str]]


def pairs_of_every_kind(trials: Callable[[int], int], target: Target) -> Table:
    rng = np.random.default_rng(31)
    rows = []
    for noise in NOISES:
        for level in (0.01, 0.02, 0.05):
            same = [_judged(pair) for pair in _pairs(rng, noise, level, trials(4000), 0.0)]
            slower = [_judged(pair) for pair in _pairs(rng, noise, level, trials(1000), 0.05)]
            alarms = _share(same, lambda one: one.verdict in CHANGED)
            covered = _share(same, lambda one: one.interval[0] <= 1 <= one.interval[1])
            found = _share(slower, lambda one: one.verdict is Verdict.REGRESSED)
            where = f"pairs, {noise} {level:.0%}"
            target(f"{where}: false alarms", alarms, 0.013, False)
            target(f"{where}: coverage", covered, 0.92, True)
            target(f"{where}: coverage", covered, 0.98, False)
            if level == 0.02 and noise in ("normal", "shared modes", "shared step"):
                target(f"{where}: +5% found", found, 0.94 if noise == "normal" else 0.90, True)
            rows.append([noise, f"{level:.0%}", f"{alarms:.2%}", f"{covered:.1%}", f"{found:.1%}"])
    return rows


def tables_of_every_kind(trials: Callable[[int], int], target: Target) -> Table:
    """Two hundred metrics, ten of them 10% slower, ten pairs: what is called, as `assay compare` calls it."""
    rng = np.random.default_rng(34)
    rows = []
    for noise in NOISES:
        for level in (0.01, 0.02, 0.05):
            tables = trials(100)
            found, wrong = 0.0, 0.0
            for _ in range(tables):
                a, b = random_pairs(rng, noise, level, 200, 10, 0.0)
                b[:10] += np.log1p(0.10)
                called = [verdict in CHANGED for verdict in _table(np.exp(a), np.exp(b))]
                found += sum(called[:10]) / 10 / tables
                wrong += sum(called[10:]) / max(1, sum(called)) / tables
            where = f"tables of 200, {noise} {level:.0%}"
            target(f"{where}: false among called", wrong, 0.05, False)
            if level == 0.02 and noise == "normal":
                target(f"{where}: +10% found", found, 0.90, True)
            rows.append([noise, f"{level:.0%}", f"{found:.1%}", f"{wrong:.2%}"])
    return rows


def sessions_with_a_past(trials: Callable[[int], int], target: Target) -> Table:
    """Ten runs a session, twenty sessions known; 2% within."""
    rng = np.random.default_rng(32)
    kinds: dict[str, Callable[[], np.ndarray]] = {
        "levels move 2%": lambda: rng.normal(0, 0.02, 22),
        "levels move 3%": lambda: rng.normal(0, 0.03, 22),
        "levels in two modes": lambda: 0.08 * (rng.random(22) < 0.5) + rng.normal(0, 0.005, 22),
        "skewed levels": lambda: rng.exponential(0.02, 22),
    }
    rows = []
    for kind, levels in kinds.items():
        same = [_session(rng, levels(), 0.0) for _ in range(trials(4000))]
        slower = [_session(rng, levels(), 0.1) for _ in range(trials(1000))]
        alarms = _share(same, lambda one: one.verdict in CHANGED)
        covered = _share(same, lambda one: one.interval[0] <= 1 <= one.interval[1])
        found = _share(slower, lambda one: one.verdict is Verdict.REGRESSED)
        target(f"sessions, {kind}: coverage", covered, 0.92, True)
        target(f"sessions, {kind}: false alarms", alarms, 0.015, False)
        if kind == "levels move 2%":
            target(f"sessions, {kind}: +10% found", found, 0.90, True)
        rows.append([kind, f"{alarms:.2%}", f"{covered:.1%}", f"{found:.1%}"])
    unknown = _share(range(trials(4000)), lambda _: _without_past(rng) in CHANGED)
    target("sessions without a past, levels move 3%: false alarms", unknown, 0.01, False)
    return [*rows, ["levels move 3%, no past", f"{unknown:.2%}", "–", "–"]]


def one_run_a_night(trials: Callable[[int], int], target: Target) -> Table:
    rng = np.random.default_rng(33)
    kinds: dict[str, Callable[[int], np.ndarray]] = {
        "normal 2%": lambda n: rng.normal(0, 0.02, n),
        "AR .6": lambda n: _ar1(rng, 0.6, n),
        "AR .9": lambda n: _ar1(rng, 0.9, n),
        "heavy tails": lambda n: rng.standard_t(3, n) * 0.02 / np.sqrt(3),
        "lognormal": lambda n: rng.lognormal(0, 0.8, n) * 0.02,
        "5% spikes": lambda n: rng.normal(0, 0.02, n) + np.where(rng.random(n) < 0.05, rng.uniform(0.2, 0.7, n), 0),
        "two modes": lambda n: rng.normal(0, 0.01, n) + 0.08 * (rng.random(n) < 0.5),
    }
    limits = {"normal 2%": 0.1, "AR .6": 0.5}
    rows = []
    for kind, draw in kinds.items():
        years = [_alarms(draw(395), 30) for _ in range(trials(1000))]
        yearly = float(np.mean([len(alarms) for alarms in years]))
        step = [_alarms(_stepped(draw(70)), 40) for _ in range(trials(1000))]
        soon = float(np.mean([bool(alarms) and alarms[0] <= 42 for alarms in step]))
        once = float(np.mean([len(alarms) == 1 for alarms in step]))
        a_night = _share(range(trials(4000)), lambda _, draw=draw: _tonight(draw(32)) in CHANGED)
        if kind in limits:
            target(f"nights, {kind}: alarms a year", yearly, limits[kind], False)
        if kind == "normal 2%":
            target(f"nights, {kind}: +10% within three nights", soon, 0.95, True)
            target(f"nights, {kind}: told once", once, 0.95, True)
        if not kind.startswith("AR"):
            target(f"nights, {kind}: false alarms a night with 30 known", a_night, 0.01, False)
        rows.append([kind, f"{a_night:.2%}", f"{yearly:.2f}", f"{soon:.1%}", f"{once:.1%}"])
    return rows


def _pairs(
    rng: np.random.Generator, noise: str, level: float, trials: int, effect: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    return zip(*random_pairs(rng, noise, level, trials, 10, effect), strict=True)


def _table(base: np.ndarray, head: np.ndarray) -> list[Verdict]:
    nothing = np.empty(0)
    found = [
        evidence(a, b, nothing, better="lower", margin=DEFAULT_MARGIN, paired=True)
        for a, b in zip(base, head, strict=True)
    ]
    asked = [one for one in found if one and not one.settled]
    corrected = dict(
        zip(
            map(id, asked),
            adjust([count_among(one.shift.p, one.shift.spikes, len(asked)) for one in asked]),
            strict=True,
        )
    )
    return [judge_evidence(one, "lower", DEFAULT_MARGIN, corrected.get(id(one), 1.0))[0] for one in found]


def _share(items, hit) -> float:  # type: ignore[no-untyped-def]
    return float(np.mean([bool(hit(item)) for item in items]))


def _judged(pair: Sequence[np.ndarray]) -> Judgement:
    base, head = np.exp(pair)
    return judge(base, head, paired=True)


def _session(rng: np.random.Generator, levels: np.ndarray, effect: float) -> Judgement:
    runs = [np.exp(level + rng.normal(0, 0.02, 10)) for level in levels]
    past = [float(np.median(run)) for run in runs[:-2]]
    return judge(runs[-2], runs[-1] * (1 + effect), history=past)


def _without_past(rng: np.random.Generator) -> Verdict:
    one, other = (np.exp(rng.normal(0, 0.03) + rng.normal(0, 0.01, 10)).tolist() for _ in range(2))
    return judge(one, other).verdict


def _tonight(nights: np.ndarray) -> Verdict:
    values = np.exp(nights)
    return judge([values[-2]], [values[-1]], history=values[:-2]).verdict


def _stepped(nights: np.ndarray) -> np.ndarray:
    return nights + np.log(1.1) * (np.arange(nights.size) >= 40)


def _alarms(nights: np.ndarray, begin: int) -> list[int]:
    return [at for at, night in enumerate(watched(nights), 10) if night.alarm and at >= begin]


def _ar1(rng: np.random.Generator, phi: float, count: int) -> np.ndarray:
    values = np.empty(count)
    values[0] = rng.normal(0, 0.02)
    for at in range(1, count):
        values[at] = phi * values[at - 1] + rng.normal(0, 0.02 * np.sqrt(1 - phi**2))
    return values
