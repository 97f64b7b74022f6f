"""Times of each request, from what the client and the answers say.

All in nanoseconds; -1 where a request has none: it failed, it was not streamed, it had one token only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.exchanges import Exchanges
from assay.loadgen.measured import Ints
from assay.loadgen.serving.measured.quantities import FROM_SEND, is_pooled
from assay.loadgen.serving.replies.replies import Replies


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
