"""Names of the times that are measured. Imports nothing: `assay load` checks its words before numpy is there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.errors import UsageError
from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.result import Ints
from assay.loadgen.serving.replies import Replies
from assay.names import unknown

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def quantiles(values: Ints, shares: Sequence[float]) -> list[float]:
    """Smallest value that at least this share of all do not exceed (nearest rank: no value that was not measured)."""
    if not len(values):
        return [float("nan")] * len(shares)
    ranks = [min(max(int(np.ceil(share * len(values) - 1e-9)), 1), len(values)) - 1 for share in shares]
    parted = np.partition(values, sorted(set(ranks)))
    return [float(parted[rank]) for rank in ranks]


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
FROM_SEND_FORMULAS: Final = (
    "as the name without _from_send, from the real send instead of the intended time; tpot_s and the gaps are times "
    "between two arrivals, so both forms are equal"
)

Source = Literal["usage", "tokenizer", "chunks", "none"]


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of each request by the server's `usage` and by a tokenizer; -1 where one does not say."""

    usage_input: Ints
    usage_output: Ints
    tokenizer_input: Ints
    tokenizer_output: Ints
    chunks: Ints

    @classmethod
    def of(cls, replies: Replies, tokenizer_input: Ints | None, tokenizer_output: Ints | None) -> TokenCounts:
        unknown = np.full(len(replies.failures), -1, np.int64)
        return cls(
            replies.usage_input,
            replies.usage_output,
            unknown if tokenizer_input is None else tokenizer_input,
            unknown if tokenizer_output is None else tokenizer_output,
            replies.chunks,
        )

    @property
    def output(self) -> Ints:
        """The count that figures stand on: `usage`, without it the tokenizer's, without both one token a chunk."""
        told = np.where(self.tokenizer_output >= 0, self.tokenizer_output, self.chunks)
        return np.where(self.usage_output >= 0, self.usage_output, told)

    @property
    def input(self) -> Ints:
        return np.where(self.usage_input >= 0, self.usage_input, self.tokenizer_input)

    @property
    def source(self) -> Source:
        """Where most output counts come from."""
        if not len(self.usage_output):
            return "none"
        if np.count_nonzero(self.usage_output >= 0) * 2 > len(self.usage_output):
            return "usage"
        if np.count_nonzero(self.tokenizer_output >= 0) * 2 > len(self.usage_output):
            return "tokenizer"
        return "chunks" if self.chunks.any() else "none"


# Times of each request, from what the client and the answers say.
#
# All in nanoseconds; -1 where a request has none: it failed, it was not streamed, it had one token only.


@dataclass(frozen=True)
class RequestTimes:
    exchanges: Exchanges
    replies: Replies
    output_tokens: Ints
    """Output tokens of each request, by the count that the figures stand on."""

    @cached_property
    def good(self) -> NDArray[np.bool_]:
        return self.replies.good

    @cached_property
    def per_request(self) -> Mapping[str, Ints]:
        """Values of the quantities that have one for each request: from the intended time, and from the real send."""
        rows = self.exchanges.rows
        tpot = self._tpot()
        found: dict[str, Ints] = {"tpot_s": tpot, f"tpot_s{FROM_SEND}": tpot}
        begin_of = {"": rows["intended_ns"], FROM_SEND: rows["sent_ns"]}
        ends = {"ttft_s": self._first, "first_output_token_s": self._first_output, "latency_s": rows["end_ns"]}
        for name, end in ends.items():
            for form, begin in begin_of.items():
                found[name + form] = np.where(self.good & (end >= 0), end - begin, -1)
        return found

    @cached_property
    def chunk_gaps(self) -> tuple[Ints, Ints]:
        """Time between one chunk with tokens and the next of the same answer, and the request of each."""
        request = self.replies.chunk_request
        if len(request) < 2:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        same = (np.diff(request) == 0) & self.good[request[1:]]
        return np.diff(self.replies.chunk_at)[same], request[1:][same]

    @cached_property
    def token_gaps(self) -> tuple[Ints, Ints]:
        """Time between one token and the next. Tokens of one chunk came together: the time between them is 0."""
        gaps, request = self.chunk_gaps
        together = np.maximum(self.output_tokens - self.replies.chunks, 0) * self.good * (self.replies.chunks > 0)
        more = np.repeat(np.arange(len(together)), together)
        return np.concatenate([gaps, np.zeros(len(more), np.int64)]), np.concatenate([request, more])

    def gaps(self, quantity: str) -> tuple[Ints, Ints]:
        """Values of a quantity with many a request, and the request of each."""
        return self.token_gaps if quantity.startswith("token") else self.chunk_gaps

    def values(self, quantity: str) -> Ints:
        """All values of a quantity: those of good requests."""
        if is_pooled(quantity):
            return self.gaps(quantity)[0]
        mine = self.per_request[quantity]
        return np.asarray(mine[mine >= 0])

    @cached_property
    def _first(self) -> Ints:
        """Arrival of the first chunk that held a token, of reasoning or not."""
        has = self.replies.chunks > 0
        first = np.full(len(has), -1, np.int64)
        first[has] = self.replies.chunk_at[self.replies.chunk_starts[:-1][has]]
        return first

    @cached_property
    def last(self) -> Ints:
        """Arrival of the last chunk that held a token."""
        has = self.replies.chunks > 0
        last = np.full(len(has), -1, np.int64)
        last[has] = self.replies.chunk_at[self.replies.chunk_starts[1:][has] - 1]
        return last

    @cached_property
    def _first_output(self) -> Ints:
        output = self.replies.chunk_is_output
        first = np.full(len(self.replies.failures), -1, np.int64)
        # Written backwards, so that the first chunk of each request is written last and stays.
        first[self.replies.chunk_request[output][::-1]] = self.replies.chunk_at[output][::-1]
        return first

    def _tpot(self) -> Ints:
        several = self.good & (self.output_tokens > 1) & (self._first >= 0)
        spent = np.rint((self.last - self._first) / np.maximum(self.output_tokens - 1, 1)).astype(np.int64)
        return np.where(several, spent, -1)


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
