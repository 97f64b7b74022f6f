"""The times that a load measures, what each figure means, and limits on them.

Imports no numpy: `assay load` checks its arguments before a session is made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from assay.errors import UsageError
from assay.names import unknown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from assay.loadgen.serving.request_metrics import RequestTimes

TIMES: Final = ("ttft_s", "first_output_token_s", "tpot_s", "token_gap_s", "chunk_gap_s", "latency_s")
"""Quantities in the order in which they are shown."""
POOLED: Final = ("token_gap_s", "chunk_gap_s")
"""Those with many values a request; the others have one."""
FROM_SEND: Final = "_from_send"
"""Ending of a quantity that is counted from the real send instead of the intended time."""
QUANTITIES: Final = (*TIMES, *(f"{name}{FROM_SEND}" for name in TIMES))


def is_pooled(quantity: str) -> bool:
    return quantity.removesuffix(FROM_SEND) in POOLED


# What each figure is, in one sentence: for the page, for serving.json, and word by word in docs/serving.md.

FORMULAS: Final[Mapping[str, str]] = {
    "ttft_s": "arrival of the first chunk that holds a token (of reasoning or of output) − intended time",
    "first_output_token_s": "arrival of the first chunk that holds a token of output (no reasoning) − intended time",
    "tpot_s": "(arrival of the last token − arrival of the first token) ÷ (output tokens − 1), for 2 tokens or more",
    "token_gap_s": "time between a token and the next one of the same answer, all pooled; 0 within one chunk",
    "chunk_gap_s": "time between a chunk with tokens and the next one of the same answer, all pooled",
    "latency_s": "arrival of the last byte of the answer − intended time",
    "requests_per_s": "answered requests ÷ (end of the last request − start)",
    "output_tokens_per_s": "output tokens of answered requests ÷ (end of the last request − start)",
    "input_tokens_per_s": "input tokens of answered requests ÷ (end of the last request − start)",
    "output_tokens_per_s_per_user": "median over answered requests of output tokens ÷ latency_s",
    "goodput_requests_per_s": "answered requests that met every objective ÷ (end of the last request − start)",
    "goodput_tokens_per_s": "output tokens of those requests ÷ (end of the last request − start)",
    "delivered_share": "open loop: requests sent ÷ scheduled × span ÷ (span + median lateness of the last tenth); "
    "closed loop: time in which the places in flight held a request ÷ (that + time from an answer to the next send), "
    "without the first request of each place",
    "lateness_s": "real send − intended time",
    "errors": "requests without a whole answer, whatever the reason; none of them is in any time above",
    "error_share": "errors ÷ requests",
    "client_cpu_share": "processor time of the client ÷ duration: 1 is one core",
}
FROM_SEND_FORMULA: Final = (
    "as the name without _from_send, from the real send instead of the intended time; tpot_s and the gaps are times "
    "between two arrivals, so both forms are equal"
)


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
