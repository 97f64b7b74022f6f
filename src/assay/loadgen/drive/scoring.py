from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.loadgen.graph.graph import Graph
from assay.loadgen.stage_report import StageReport
from assay.pipeline.stage import Stage

Keep = Callable[[int, Any], None]


class Scoring:
    """Tells the data set's stage what came out of the measured queries. One that raises loses only its score."""

    def __init__(self, stage: Stage[Any, Any]) -> None:
        self._stage = stage
        self._failures = 0
        self._reason = ""

    @classmethod
    def of(cls, graph: Graph) -> Scoring | None:
        """None without a data set, or with one that scores nothing."""
        if graph.dataset is None:
            return None
        stage = graph.node(graph.dataset).stage
        return None if type(stage).score is Stage.score else cls(stage)

    def before(self, keep: Keep | None) -> Keep:
        def score(query: int, result: Any) -> None:
            if query >= 0:
                self._score(result)
            if keep is not None:
                keep(query, result)

        return score

    def _score(self, result: Any) -> None:
        try:
            self._stage.score(result)
        except Exception as error:  # noqa: BLE001  (a stage may raise anything; its queries were answered all the same)
            self._failures += 1
            self._reason = self._reason or f"{type(error).__name__}: {error}"

    def report(self, report: StageReport) -> StageReport:
        if not self._failures:
            return report
        said = f"{self._failures} results could not be scored: {self._reason}"
        return StageReport(report.metrics, (*report.notes, said))
