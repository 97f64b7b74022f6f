from __future__ import annotations

from assay.pipeline import Collector, Split
from assay.stages.alm.curated import Curated
from assay.stages.alm.split_summary import SplitSummary, summarise


class Tally(Collector[Curated, SplitSummary]):
    """Counts, and digests every output field, without writing any of it."""

    name = "alm_tally"
    needs = frozenset({"filtered_windows"})

    def begin(self, split: Split) -> None:
        self._summary = SplitSummary()

    def process(self, data: Curated) -> None:
        self._summary.add(summarise(data, digest=True))

    def finish(self) -> SplitSummary:
        return self._summary
