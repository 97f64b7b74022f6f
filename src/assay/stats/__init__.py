"""Pure mathematics: arrays in, numbers out. Each module says which idea it uses and where that is published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.exports import exports

if TYPE_CHECKING:
    from assay.stats.changes import LevelChange, find_changes, level_since
    from assay.stats.early_stopping import TailEstimate, tail_estimate
    from assay.stats.fits import PowerLaw, fit_power_law
    from assay.stats.intervals import Interval, bootstrap, quantile_interval
    from assay.stats.robust import Outlier, find_outliers
    from assay.stats.shift import Repeats, Shift, level_shift, paired_shift, plan_repeats, unpaired_shift
    from assay.stats.warmup import WarmupCut as Warmup
    from assay.stats.warmup import find_warmup

__all__ = [
    "Interval",
    "LevelChange",
    "Outlier",
    "PowerLaw",
    "Repeats",
    "Shift",
    "TailEstimate",
    "Warmup",
    "bootstrap",
    "find_changes",
    "find_outliers",
    "find_warmup",
    "fit_power_law",
    "level_shift",
    "level_since",
    "paired_shift",
    "plan_repeats",
    "quantile_interval",
    "tail_estimate",
    "unpaired_shift",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Interval": "intervals",
        "LevelChange": "changes",
        "Outlier": "robust",
        "PowerLaw": "fits",
        "Repeats": "shift",
        "Shift": "shift",
        "TailEstimate": "early_stopping",
        "Warmup": "warmup:WarmupCut",
        "bootstrap": "intervals",
        "find_changes": "changes",
        "find_outliers": "robust",
        "find_warmup": "warmup",
        "fit_power_law": "fits",
        "level_shift": "shift",
        "level_since": "changes",
        "paired_shift": "shift",
        "plan_repeats": "shift",
        "quantile_interval": "intervals",
        "tail_estimate": "early_stopping",
        "unpaired_shift": "shift",
    },
)
