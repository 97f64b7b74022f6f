"""Names of the times that are measured. Imports nothing: `assay load` checks its words before numpy is there."""

from __future__ import annotations

from typing import Final

TIMES: Final = ("ttft_s", "first_output_token_s", "tpot_s", "token_gap_s", "chunk_gap_s", "latency_s")
"""Quantities in the order in which they are shown."""
POOLED: Final = ("token_gap_s", "chunk_gap_s")
"""Those with many values a request; the others have one."""
FROM_SEND: Final = "_from_send"
"""Ending of a quantity that is counted from the real send instead of the intended time."""
QUANTITIES: Final = (*TIMES, *(f"{name}{FROM_SEND}" for name in TIMES))


def is_pooled(quantity: str) -> bool:
    return quantity.removesuffix(FROM_SEND) in POOLED
