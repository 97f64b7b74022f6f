from __future__ import annotations

from dataclasses import dataclass

from assay.loadgen.colocation.colocation import GroupOutcome


@dataclass(frozen=True)
class ColocatedRun:
    """One group that ran: alone, together, in a round, at a rate."""

    label: str
    """Its folder, below the folder of results."""
    outcome: GroupOutcome
    round: int = 1
