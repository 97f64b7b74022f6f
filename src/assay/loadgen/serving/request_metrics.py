"""Times and token counts of requests, from what came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.load_result import Ints
from assay.loadgen.serving.objectives import (
    FROM_SEND,
    is_pooled,
)
from assay.loadgen.serving.replies import Replies

SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def quantiles(values: Ints, shares: Sequence[float]) -> list[float]:
    """Smallest value that at least this share of all do not exceed (nearest rank: no value that was not measured)."""
    if not len(values):
        return [float("nan")] * len(shares)
    ranks = [min(max(int(np.ceil(share * len(values) - 1e-9)), 1), len(values)) - 1 for share in shares]
    parted = np.partition(values, sorted(set(ranks)))
    return [float(parted[rank]) for rank in ranks]


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
