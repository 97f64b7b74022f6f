"""What each figure is, in one sentence: for the page, for serving.json, and word by word in docs/serving.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FORMULAS: Final[Mapping[str, str]] = {
    "ttft_s": "arrival of the first chunk that holds a token (of reasoning or of output) − intended time",
    "first_output_token_s": "arrival of the first chunk that holds a token of output (no reasoning) − intended time",
    "tpot_s": "(arrival of the last token − arrival of the first token) ÷ (output tokens − 1), for 2 tokens or more",
    "token_gap_s": "time between a token and the next one of the same answer, all pooled; 0 within one chunk",
    "chunk_gap_s": "time between a chunk with tokens and the next one of the same answer, all pooled",
    "latency_s": "arrival of the last byte of the answer − intended time",
    "requests_per_s": "answered requests ÷ (end of the last request − start)",
    "output_tokens_per_s": "output tokens of answered requests ÷ (end of the last request − start)",
    "input_tokens_per_s": "input tokens of answered requests ÷ (end of the last request − start)",
    "output_tokens_per_s_per_user": "median over answered requests of output tokens ÷ latency_s",
    "goodput_requests_per_s": "answered requests that met every objective ÷ (end of the last request − start)",
    "goodput_tokens_per_s": "output tokens of those requests ÷ (end of the last request − start)",
    "delivered_share": "open loop: requests sent ÷ scheduled × span ÷ (span + median lateness of the last tenth); "
    "closed loop: time in which the places in flight held a request ÷ (that + time from an answer to the next send), "
    "without the first request of each place",
    "lateness_s": "real send − intended time",
    "errors": "requests without a whole answer, whatever the reason; none of them is in any time above",
    "error_share": "errors ÷ requests",
    "client_cpu_share": "processor time of the client ÷ duration: 1 is one core",
}
FROM_SEND: Final = (
    "as the name without _from_send, from the real send instead of the intended time; tpot_s and the gaps are times "
    "between two arrivals, so both forms are equal"
)
