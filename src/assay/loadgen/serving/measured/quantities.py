"""Names of the times that are measured. Imports nothing: `assay load` checks its words before numpy is there."""

from __future__ import annotations

from typing import Final

TIMES: Final = ("ttft_s", "first_output_token_s", "tpot_s", "token_gap_s", "chunk_gap_s", "latency_s")
"""Quantities in the order in which they are shown."""
FROM_SEND: Final = ("ttft_s", "first_output_token_s", "latency_s")
"""Those that have a beginning: a gap is the same, wherever one starts to count."""
POOLED: Final = ("token_gap_s", "chunk_gap_s")
"""Those with many values a request; the others have one."""
QUANTITIES: Final = (*TIMES, *(f"{name}_from_send" for name in FROM_SEND))
