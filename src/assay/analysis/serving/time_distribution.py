from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from assay.analysis.fields import Fields

_MOST_BINS = 200


@dataclass(frozen=True)
class TimeDistribution:
    """Distribution of one kind of time, in seconds."""

    name: str
    edges: tuple[float, ...]
    """Ends of the bins, one more than there are counts."""
    counts: tuple[int, ...]
    quantiles: tuple[tuple[str, float], ...]
    count: int

    @classmethod
    def read(cls, name: str, written: Fields) -> TimeDistribution | None:
        edges = tuple(edge for edge in written.numbers("edges_s", _MOST_BINS + 1) if edge is not None)
        counts = tuple(int(count) for count in written.numbers("counts", _MOST_BINS) if count is not None)
        ascending = all(low < high for low, high in pairwise(edges)) and min(counts, default=0) >= 0
        if not counts or len(edges) != len(counts) + 1 or not ascending or not any(counts):
            return None
        shares = written.inner("quantiles_s")
        quantiles = [(share, shares.at_least_0(share)) for share in shares.written if isinstance(share, str)]
        return cls(
            name, edges, counts, tuple((share, at) for share, at in quantiles[:8] if at is not None),
            written.count("count") or sum(counts),
        )  # fmt: skip
