"""Ways to find where a series changed. Each returns the indices it calls."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.stats.changes import find_changes

LOOK_BACK = 20


def ours(series: np.ndarray) -> list[int]:
    return [change.index for change in find_changes(series)]


def previous_plus_ten(series: np.ndarray) -> list[int]:
    ratio = series[1:] / series[:-1]
    return [int(i) + 1 for i in np.flatnonzero((ratio > 1.1) | (ratio < 1 / 1.1))]


def z_score(series: np.ndarray) -> list[int]:
    """Five deviations from the mean of the twenty values before."""
    called = []
    for i in range(LOOK_BACK, series.size):
        before = series[i - LOOK_BACK : i]
        if abs(series[i] - before.mean()) > 5 * before.std(ddof=1):
            called.append(i)
    return called


def welch_halves(series: np.ndarray) -> list[int]:
    """Ten values against the ten before, p < .01, at every place; runs of calls count once."""
    return _windows(series, "welch")


def mann_whitney_halves(series: np.ndarray) -> list[int]:
    return _windows(series, "mann-whitney")


def _windows(series: np.ndarray, test: str) -> list[int]:
    from scipy import stats

    size = 10
    windows = np.lib.stride_tricks.sliding_window_view(series, 2 * size)
    before, after = windows[:, :size], windows[:, size:]
    if test == "welch":
        p = stats.ttest_ind(before, after, axis=1, equal_var=False).pvalue
    else:
        p = stats.mannwhitneyu(before, after, axis=1).pvalue
    called = np.flatnonzero(p < 0.01) + size
    return [int(i) for k, i in enumerate(called) if k == 0 or i - called[k - 1] > 1]


def pelt_bic(series: np.ndarray) -> list[int]:
    """The exact optimum that PELT finds, two parameters a step at the price of Schwarz's criterion."""
    import ruptures

    values = np.log(series) if (series > 0).all() else series
    sigma = 1.4826 * np.median(np.abs(np.diff(values))) / np.sqrt(2)
    price = max(2 * sigma**2 * np.log(values.size), 1e-9)
    found = ruptures.KernelCPD(kernel="linear", min_size=2).fit(values.reshape(-1, 1)).predict(pen=price)
    return [int(index) for index in found[:-1]]


def otava(many: Sequence[np.ndarray]) -> list[list[int]] | None:
    found = otava_timed(many)
    return None if found is None else [list(indices) for indices, _ in found]


def otava_timed(many: Sequence[np.ndarray]) -> list[tuple[Sequence[int], float]] | None:
    """Apache Otava as it comes, with the CPU seconds of each series, by its own Python, which `ASSAY_OTAVA` names;
    None where there is none."""
    python = os.environ.get("ASSAY_OTAVA", "")
    if not python or not Path(python).exists():
        return None
    script = Path(__file__).with_name("otava_changes.py")
    asked = json.dumps([values.tolist() for values in many])
    done = subprocess.run([python, str(script)], input=asked, capture_output=True, text=True, check=True)
    return [([int(index) for index in indices], float(took)) for indices, took in json.loads(done.stdout)]


METHODS = {
    "assay": ours,
    "Welch ±10": welch_halves,
    "Mann–Whitney ±10": mann_whitney_halves,
    "prev +10%": previous_plus_ten,
    "z > 5": z_score,
}
