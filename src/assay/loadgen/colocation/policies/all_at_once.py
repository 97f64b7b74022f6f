from __future__ import annotations

from collections.abc import Sequence

from assay.loadgen.colocation.policies.control import Control
from assay.loadgen.colocation.policies.pipeline_state import PipelineState
from assay.loadgen.colocation.policies.policy import Policy


class AllAtOnce(Policy):
    """All pipelines are released at one instant and left alone, as without a policy."""

    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        return
