"""Ways to say that B differs from A: ours and the usual ones. Logarithms in; +1 slower, -1 faster, 0 not called."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from assay.analysis.comparison import Verdict, verdict_of
from assay.stats.shift import looks, paired_shift, unpaired_shift

MARGIN = 0.03
Rows = np.ndarray
Method = Callable[[Rows, Rows], Rows]


def welch(a: Rows, b: Rows) -> Rows:
    result = stats.ttest_ind(np.exp(b), np.exp(a), axis=1, equal_var=False)
    return np.where(result.pvalue < 0.05, np.sign(result.statistic), 0)


def mann_whitney(a: Rows, b: Rows) -> Rows:
    p = stats.mannwhitneyu(b, a, axis=1).pvalue
    return np.where(p < 0.05, np.sign(np.median(b, axis=1) - np.median(a, axis=1)), 0)


def previous_plus_ten(a: Rows, b: Rows) -> Rows:
    """The mean of the new runs against the mean of the previous ones, 10% allowed."""
    ratio = np.exp(b).mean(axis=1) / np.exp(a).mean(axis=1)
    return np.where(ratio > 1.1, 1, np.where(ratio < 1 / 1.1, -1, 0))


def z_score(a: Rows, b: Rows) -> Rows:
    """The last new run against the mean and standard deviation of the previous ones, three deviations allowed."""
    times = np.exp(a)
    z = (np.exp(b[:, -1]) - times.mean(axis=1)) / times.std(axis=1, ddof=1)
    return np.where(np.abs(z) > 3, np.sign(z), 0)


def paired_bootstrap(a: Rows, b: Rows, resamples: int = 1000) -> Rows:
    """The interval of the median log ratio, as a percentile bootstrap."""
    rng = np.random.default_rng(11)
    picks = rng.integers(0, a.shape[1], (resamples, a.shape[1]))
    low, high = np.array([np.quantile(np.median(row[picks], axis=1), (0.025, 0.975)) for row in b - a]).T
    return np.where(low > 0, 1, np.where(high < 0, -1, 0))


USUAL: dict[str, Method] = {
    "Welch": welch,
    "Mann–Whitney": mann_whitney,
    "prev +10%": previous_plus_ten,
    "z > 3": z_score,
}


def verdicts(a: Rows, b: Rows, *, paired: bool = True) -> list[Verdict]:
    """What `assay compare` and one look of `assay ab` say about a single metric."""
    shift = paired_shift if paired else unpaired_shift
    shifts = [shift(x, y) for x, y in zip(a, b, strict=True)]
    return [verdict_of(s, "lower", MARGIN, s.p)[0] for s in shifts]


def sequential(a: Rows, b: Rows) -> tuple[list[Verdict], list[int]]:
    """What `assay ab` says at the end of its budget, and how many pairs it used."""
    said: list[Verdict] = []
    used: list[int] = []
    planned = looks(a.shape[1])
    for x, y in zip(a, b, strict=True):
        for count in planned:
            shift = paired_shift(x[:count], y[:count], looks=len(planned))
            verdict = verdict_of(shift, "lower", MARGIN, shift.p)[0]
            if verdict is not Verdict.INCONCLUSIVE:
                break
        said.append(verdict)
        used.append(count)
    return said, used


def peeking(method: Method, a: Rows, b: Rows) -> Rows:
    """A usual test looked at as often, stopping when it speaks."""
    called = np.zeros(len(a))
    for count in looks(a.shape[1]):
        called = np.where(called == 0, method(a[:, :count], b[:, :count]), called)
    return called


def share(verdict_list: list[Verdict], *which: Verdict) -> float:
    return sum(verdict in which for verdict in verdict_list) / len(verdict_list)
