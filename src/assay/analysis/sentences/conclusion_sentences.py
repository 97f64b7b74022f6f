"""The end of `compare` and `ab`: what came of it as a whole, which is also why the exit code is what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MOST = 5
"""Things that a sentence names before it only counts the rest."""
_SHOWN = {"equivalent": "unchanged"}
"""A verdict as it is counted for people; in files it keeps its name."""


def name_first(things: Sequence[str], between: str = "; ", most: int = MOST) -> str:
    more = len(things) - most
    return between.join(things[:most]) + (f" and {more} more" if more > 0 else "")


def verdict_word(verdict: str) -> str:
    return _SHOWN.get(str(verdict), str(verdict))


def count_verdicts(counts: Mapping[str, int], nothing: str = "nothing to compare") -> str:
    """`1 regressed, 5 inconclusive, 37 unchanged`, in the order given."""
    return ", ".join(f"{count} {verdict_word(verdict)}" for verdict, count in counts.items() if count) or nothing


def also_regressed(failures: str, regressions: str) -> str:
    return f"{failures}; also regressed: {regressions}"


def regression(entry: str, metric: str, reason: str) -> str:
    return f"{entry} {metric}: {reason}"


def count_regressed(count: int, of: int, others: str) -> str:
    """`others`: the rest, counted by verdict."""
    return f"{count} of {of} metric{'' if of == 1 else 's'}" + (f"; {others}" if others else "")


def count_undecided(count: int, of: int, first: str = "") -> str:
    """`first`: the first of them with its reason, where there is room for it."""
    what = "the metric that counts is" if of == 1 else f"{count} of {of} metrics that count are"
    return f"{what} inconclusive" + (f"; {first}" if first else "")


def no_direction() -> str:
    return "nothing says which way is better; add `better: lower` or `better: higher` under `metrics:`"


def missing_metrics(metrics: str) -> str:
    return f"only in A: {metrics}; what B does not measure can't be compared"


def nothing_worse(metrics: int, others: int) -> str:
    """`others`: inconclusive ones that decide nothing."""
    count = "the metric that counts is" if metrics == 1 else f"all {metrics} metrics that count are"
    besides = f"; {others} that {'does' if others == 1 else 'do'} not count inconclusive" if others else ""
    return f"{count} unchanged or improved{besides}"


def first_run() -> str:
    return "nothing was compared (--allow-missing-base)"


def nothing_in_common() -> str:
    return "A and B have nothing in common"


def failure(side: str, count: str, what: str, why: str) -> str:
    return f"{side} failed{count}: {what}: {why}"


def failure_count(failed_runs: int, runs: int) -> str:
    """Nothing where all failed."""
    return "" if failed_runs == runs else f" in {failed_runs} of {runs} runs"


def same_failure(sides: tuple[str, str], failed_runs: tuple[int, int], runs: tuple[int, int], what: str) -> str:
    """`what`: the entry and why."""
    if failed_runs == runs:
        return f"{sides[0]} and {sides[1]} failed in the same way: {what}"
    counts = f"in {failed_runs[0]} of {runs[0]} runs and {sides[1]} in {failed_runs[1]} of {runs[1]}"
    return f"{sides[0]} failed {counts}, in the same way: {what}"
