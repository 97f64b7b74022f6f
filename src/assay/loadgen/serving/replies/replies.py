from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.loadgen.http.reading.deltas import Deltas
from assay.loadgen.measured import Ints


@dataclass(frozen=True)
class Replies:
    """What the bodies said: a row a request, and a row a chunk that held at least one token."""

    failures: tuple[str, ...]
    """Kind of the error of each request, the connection's or the answer's; empty where it was answered in full."""
    messages: tuple[str, ...]
    """What is known about an error, in the server's words where it said any."""
    usage_input: Ints
    """Input tokens by the server's `usage`; -1 where it sent none."""
    usage_output: Ints
    chunk_starts: Ints
    """Place of each request's first chunk, and the number of all at the end."""
    chunk_at: Ints
    """Arrival in nanoseconds."""
    chunk_is_output: NDArray[np.bool_]
    """False: it held reasoning only."""
    deltas: Deltas | None = field(default=None, repr=False)

    @cached_property
    def good(self) -> NDArray[np.bool_]:
        return np.fromiter((not failure for failure in self.failures), np.bool_, len(self.failures))

    @cached_property
    def chunks(self) -> Ints:
        """Number of chunks with tokens of each request."""
        return np.diff(self.chunk_starts)

    @cached_property
    def chunk_request(self) -> Ints:
        """The request that each chunk belongs to."""
        return np.repeat(np.arange(len(self.failures)), self.chunks)

    def text(self, request: int) -> str:
        """The answer to one request, reasoning first."""
        if self.deltas is None:
            return ""
        return self.deltas.text(request, reasoning=True) + self.deltas.text(request)
