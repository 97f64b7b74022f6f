from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import UsageError
from assay.loadgen.serving.measured.quantities import QUANTITIES, is_pooled
from assay.names import unknown

if TYPE_CHECKING:  # Words are checked before a session is made, where numpy would cost a tenth of a second.
    import numpy as np
    from numpy.typing import NDArray

    from assay.loadgen.serving.measured.request_times import RequestTimes

_FORM = re.compile(r"(?P<quantity>[a-z_]+):p?(?P<percentile>[0-9.]+)=(?P<seconds>[0-9.eE+-]+)s?")


@dataclass(frozen=True)
class ServingObjective:
    """`percentile` (0.99) of all values of a quantity within `seconds`."""

    quantity: str
    percentile: float
    seconds: float

    @classmethod
    def parse(cls, words: str) -> ServingObjective:
        """`ttft_s:p99=0.5`; the quantity may leave out its `_s`."""
        form = _FORM.fullmatch(words.strip())
        if form is None:
            raise UsageError(f"--objective {words!r}: write METRIC:PERCENTILE=SECONDS, for example ttft_s:p99=0.5")
        quantity = form["quantity"]
        if quantity not in QUANTITIES and f"{quantity}_s" in QUANTITIES:
            quantity += "_s"
        if quantity not in QUANTITIES:
            raise UsageError(f"--objective {words!r}: {unknown('metric', quantity, QUANTITIES)}")
        try:
            percentile, seconds = float(form["percentile"]), float(form["seconds"])
        except ValueError:
            raise UsageError(f"--objective {words!r}: percentile and seconds must be numbers") from None
        if not 0 < percentile < 100:
            raise UsageError(f"--objective {words!r}: the percentile must lie between 0 and 100, as in p99")
        if not 0 < seconds < float("inf"):
            raise UsageError(f"--objective {words!r}: the seconds must be greater than 0")
        return cls(quantity, percentile / 100, seconds)

    @property
    def words(self) -> str:
        return f"{self.quantity}:p{self.percentile * 100:g}={self.seconds:g}"

    def judge(self, times: RequestTimes, lost: int) -> ObjectiveResult:
        """Judges the objective. `lost`: number of requests that failed; none of them met it."""
        from assay.stats.early_stopping import within_bound

        values = times.values(self.quantity)
        over = int((values > self.seconds * 1e9).sum()) + lost
        total = len(values) + lost
        met = total > 0 and over <= (1 - self.percentile) * total + 1e-9
        return ObjectiveResult(self, over, total, met, met and within_bound(over, total, self.percentile))

    def find_met(self, times: RequestTimes) -> NDArray[np.bool_]:
        """Which requests met the objective. A request with many values (gaps) met it if enough of them did."""
        import numpy as np

        if not is_pooled(self.quantity):
            mine = times.per_request[self.quantity]
            return (mine >= 0) & (mine <= self.seconds * 1e9)
        gaps, request = times.gaps(self.quantity)
        over = np.bincount(request[gaps > self.seconds * 1e9], minlength=len(times.good))
        total = np.bincount(request, minlength=len(times.good))
        return np.asarray(times.good & (over <= (1 - self.percentile) * total + 1e-9))


@dataclass(frozen=True)
class ObjectiveResult:
    objective: ServingObjective
    over: int
    total: int
    met: bool
    sure: bool
    """Enough values to be sure of it (MLPerf's early-stopping rule)."""

    @property
    def reason(self) -> str:
        """Empty where it was met."""
        if self.met:
            return ""
        if not self.total:
            return f"{self.objective.words}: nothing was measured"
        allowed = 1 - self.objective.percentile
        return f"{self.objective.words}: {self.over} of {self.total} were over (allowed: {allowed:.2%})"
