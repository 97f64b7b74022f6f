from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

import numpy as np

from assay.loadgen.board import ERROR, OK
from assay.loadgen.colocation.policies.decision import Action, Decision
from assay.loadgen.recording.spool import DTYPE, Rows

FIRST_ACTION: Final = -10
"""Largest number in the column of stages that stands for a policy's action: this and below are no stages."""
ACTION_NAMES: Final = {FIRST_ACTION - n: action for n, action in enumerate(get_args(Action))}
_CODES = {action: code for code, action in ACTION_NAMES.items()}


def decision_rows(decisions: Sequence[Decision], released_at: int) -> Rows:
    """Decisions as rows of the event file; one that was refused is an error."""
    rows = np.zeros(len(decisions), DTYPE)
    for row, decision in zip(rows, decisions, strict=True):
        at = released_at + int(decision.t * 1e9)
        row["stage"], row["status"] = _CODES[decision.action], ERROR if decision.refused else OK
        row["intended"] = row["start"] = row["end"] = at
    return rows
