"""`make bench-truth`: how often the statistics are right, where the truth is known. Exit code 1 if a target is missed.

With `--quick` a tenth of the trials, to see that it works; its figures are too rough to judge the targets by.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from bench.truth import annotated, change_bench, change_methods, second_look
from bench.truth.generator import KINDS, LEVELS, Kind, blocks, pairs, series
from bench.truth.methods import USUAL, paired_bootstrap, peeking, sequential, share, verdicts

from assay.analysis.comparison import Verdict

SCALE = 0.1 if "--quick" in sys.argv else 1.0
CHANGED = (Verdict.REGRESSED, Verdict.IMPROVED)
missed: list[str] = []


def trials(count: int) -> int:
    return max(20, int(count * SCALE))


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"\n## {title}\n")
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    for number, row in enumerate([head, *rows]):
        print("| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")


def target(name: str, value: float, limit: float, at_least: bool) -> None:
    ok = value >= limit if at_least else value <= limit
    if not ok:
        missed.append(f"{name}: {value:.4g}, wanted {'at least' if at_least else 'at most'} {limit:g}")


def percent(value: float) -> str:
    return f"{100 * value:.2f}%" if value < 0.1 else f"{100 * value:.1f}%"


def usual(a: np.ndarray, b: np.ndarray, hit: Callable[[np.ndarray], np.ndarray]) -> list[str]:
    return [percent(float(hit(method(a, b)).mean())) for method in USUAL.values()]


def cells() -> list[tuple[Kind, float]]:
    return [(kind, level) for kind in KINDS for level in LEVELS]


def identical_code() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for kind, level in cells():
        a, b = pairs(rng, kind, level, trials(10_000), 10, 0.0)
        said = verdicts(a, b)
        alarms = share(said, *CHANGED)
        target(f"A/A, ten pairs, {kind} {level:.0%}", alarms, 0.01, at_least=False)
        some = slice(0, trials(2000))
        rows.append(
            [kind, f"{level:.0%}", percent(alarms), *usual(a, b, lambda v: v != 0),
             percent(float((paired_bootstrap(a[some], b[some]) != 0).mean())),
             percent(share(said, Verdict.EQUIVALENT)), percent(share(said, Verdict.INCONCLUSIVE))]
        )  # fmt: skip
    table(
        "Identical code, ten random pairs: false alarms",
        ["noise", "level", "assay", *USUAL, "paired bootstrap", "assay: equivalent", "assay: inconclusive"],
        rows,
    )


def slower_code() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for kind, level in cells():
        a, b = pairs(rng, kind, level, trials(4000), 10, 0.05)
        said = verdicts(a, b)
        found = share(said, Verdict.REGRESSED)
        if level == 0.02:
            target(f"power at +5%, ten pairs, {kind} 2%", found, 0.95, at_least=True)
        some = slice(0, trials(1000))
        rows.append(
            [kind, f"{level:.0%}", percent(found), *usual(a, b, lambda v: v > 0),
             percent(float((paired_bootstrap(a[some], b[some]) > 0).mean())),
             percent(share(said, Verdict.EQUIVALENT)), percent(share(said, Verdict.INCONCLUSIVE))]
        )  # fmt: skip
    table(
        "5% slower, ten random pairs: found",
        ["noise", "level", "assay", *USUAL, "paired bootstrap", "assay: equivalent (wrong)", "assay: inconclusive"],
        rows,
    )


def until_sure() -> None:
    rng = np.random.default_rng(3)
    rows = []
    for kind, level in cells():
        same = pairs(rng, kind, level, trials(4000), 60, 0.0)
        slow = pairs(rng, kind, level, trials(2000), 60, 0.05)
        said, used = sequential(*same)
        found, needed = sequential(*slow)
        target(f"A/A, up to sixty pairs, {kind} {level:.0%}", share(said, *CHANGED), 0.01, at_least=False)
        if level >= 0.02:
            target(
                f"power at +5%, up to sixty pairs, {kind} {level:.0%}",
                share(found, Verdict.REGRESSED),
                0.95,
                at_least=True,
            )
        peeked = [
            f"{percent(float((peeking(m, *same) != 0).mean()))} / {percent(float((peeking(m, *slow) > 0).mean()))}"
            for m in USUAL.values()
        ]
        rows.append(
            [kind, f"{level:.0%}", f"{percent(share(said, *CHANGED))} / {percent(share(found, Verdict.REGRESSED))}",
             *peeked, percent(share(said, Verdict.EQUIVALENT)),
             f"{percent(share(said, Verdict.INCONCLUSIVE))} / {percent(share(found, Verdict.INCONCLUSIVE))}",
             f"{np.mean(used):.0f} / {np.mean(needed):.0f}"]
        )  # fmt: skip
    table(
        "`assay ab` with up to sixty pairs, looked at after every ten: false alarms / 5% slower found",
        ["noise", "level", "assay", *(f"{name}, peeking" for name in USUAL), "A/A equivalent",
         "inconclusive A/A / +5%", "pairs used A/A / +5%"],
        rows,
    )  # fmt: skip


def sessions_apart() -> None:
    """`assay compare` of two sessions: all of A, then all of B."""
    rng = np.random.default_rng(4)
    rows = []
    for kind, level in cells():
        a, b = blocks(rng, kind, level, trials(4000), 10, 0.0)
        said = verdicts(a, b, paired=False)
        found = [
            share(verdicts(*blocks(rng, kind, level, trials(1500), 10, effect), paired=False), Verdict.REGRESSED)
            for effect in (0.05, 0.10)
        ]
        target(f"A/A, two sessions, {kind} {level:.0%}", share(said, *CHANGED), 0.01, at_least=False)
        rows.append(
            [kind, f"{level:.0%}", percent(share(said, *CHANGED)), *usual(a, b, lambda v: v != 0),
             percent(share(said, Verdict.INCONCLUSIVE)), percent(found[0]), percent(found[1])]
        )  # fmt: skip
    table(
        "Two sessions one after the other, ten runs each: false alarms",
        ["noise", "level", "assay", *USUAL, "assay: inconclusive", "assay: +5% found", "assay: +10% found"],
        rows,
    )


def whole_tables() -> None:
    """A hundred metrics at 2% noise, five of them 10% slower: how much of what is called is false."""
    from assay.analysis.comparison import verdict_of
    from assay.stats.shift import adjust, count_among, paired_shift

    rng = np.random.default_rng(5)
    rows = []
    for level in LEVELS:
        right, wrong, any_wrong = 0, 0.0, 0
        tables = trials(100)
        for _ in range(tables):
            a, b = pairs(rng, "all", level, 100, 10, 0.0)
            b[:5] += np.log1p(0.10)
            shifts = [paired_shift(x, y) for x, y in zip(a, b, strict=True)]
            corrected = adjust([count_among(s.p, s.spikes, len(shifts)) for s in shifts])
            said = [verdict_of(s, "lower", 0.03, p)[0] in CHANGED for s, p in zip(shifts, corrected, strict=True)]
            right, wrong = right + sum(said[:5]), wrong + sum(said[5:]) / max(1, sum(said)) / tables
            any_wrong += any(said[5:])
        target(f"false discoveries in a table, {level:.0%}", wrong, 0.05, at_least=False)
        rows.append([f"{level:.0%}", percent(right / (5 * tables)), percent(wrong),
                     percent(any_wrong / tables)])  # fmt: skip
    table(
        "Tables of 100 metrics, 5 of them +10%, ten pairs, noise `all`",
        ["level", "found", "false among called", "tables with any false alarm"],
        rows,
    )


def tables_of_every_kind() -> None:
    rows = second_look.tables_of_every_kind(trials, target)
    head = ["noise", "level", "found", "false among called"]
    table("Tables of 200 metrics, 10 of them +10%, ten pairs, noise of other kinds", head, rows)


def change_points() -> None:
    rng = np.random.default_rng(6)
    for spikes in (False, True):
        rows = []
        for level in LEVELS:
            for phi in (0.0, 0.6):
                row = [f"{level:.0%}", f"{phi:g}"]
                still = series(rng, phi, level, trials(2000), 0.0, spikes=spikes)
                steps = {s: series(rng, phi, level, trials(1000), s, spikes=spikes) for s in (0.05, 0.10)}
                for name, method in change_methods.METHODS.items():
                    # The usual methods are far from any target; a quarter of the series shows it.
                    part = 1 if name == "assay" else 4
                    alarms = float(np.mean([len(method(values)) for values in still[::part]]))
                    found = [np.mean([_hit(method(v)) for v in values[::part]]) for values in steps.values()]
                    row.append(f"{alarms:.3f} / {found[0]:.2f} / {found[1]:.2f}")
                    if name == "assay" and level == 0.02:
                        where = f"change points, φ = {phi:g}{', spikes' if spikes else ''}"
                        target(f"{where}: false alarms a series", alarms, 0.05, at_least=False)
                        target(f"{where}: +10% found", float(found[1]), 0.98, at_least=True)
                        if phi == 0:
                            target(f"{where}: +5% found", float(found[0]), 0.85, at_least=True)
                rows.append(row)
        table(
            f"Change points in 120 values{', 4% spikes' if spikes else ''}: false alarms a series / +5% / +10% found",
            ["level", "φ", *change_methods.METHODS],
            rows,
        )
    change_bench.still(trials, table, target)
    change_bench.stepped(trials, table, target)
    change_bench.nightly(trials, table)
    change_bench.long_series(table, target)
    change_bench.real_series(table)


def _hit(called: list[int]) -> bool:
    return any(abs(index - 110) <= 3 for index in called)


def other_noise() -> None:
    rows = second_look.pairs_of_every_kind(trials, target)
    table("Ten pairs, noise of other kinds", ["noise", "level", "false alarms", "covered", "+5% found"], rows)
    rows = second_look.sessions_with_a_past(trials, target)
    table("A session against twenty before it", ["levels", "false alarms", "covered", "+10% found"], rows)
    rows = second_look.one_run_a_night(trials, target)
    head = ["noise", "false alarms a night", "alarms a year", "+10% told within three nights", "told once"]
    table("One run a night", head, rows)


PARTS = (other_noise, identical_code, slower_code, until_sure, sessions_apart, whole_tables, tables_of_every_kind,
         change_points)  # fmt: skip


def main() -> int:
    """Names of parts as arguments: only those. With `--mozilla DIR` only the series that people have annotated."""
    if sys.argv[1:2] == ["--mozilla"]:
        return annotated.run(sys.argv[2], table)
    print("# How often the statistics are right (bench/truth/generator.py makes the data)", flush=True)
    start = time.process_time()
    asked = set(sys.argv[1:]) - {"--quick"}
    for part in PARTS:
        if not asked or part.__name__ in asked:
            part()
            sys.stdout.flush()
    print(f"\n{time.process_time() - start:.0f} s of CPU time.")
    for line in missed:
        print(f"MISSED {line}")
    if not missed:
        print("Every target is met.")
    return 1 if missed and SCALE == 1.0 else 0


if __name__ == "__main__":
    raise SystemExit(main())
