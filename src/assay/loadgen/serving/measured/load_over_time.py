from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.loadgen.measured import Ints
from assay.loadgen.serving.measured.request_times import RequestTimes

_MOST_SLOTS = 240
_SLOTS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)


@dataclass(frozen=True)
class LoadOverTime:
    """The course of a load in slots of equal length, from its start to its last answer."""

    slot_s: float
    in_flight: Ints
    """Requests in flight in the middle of each slot."""
    sent: Ints
    answered: Ints
    output_tokens: Ints
    errors: dict[str, Ints]

    def to_json(self) -> dict[str, Any]:
        per_s = 1 / self.slot_s
        return {
            "slot_s": self.slot_s,
            "in_flight": self.in_flight.tolist(),
            "sent_per_s": [round(count * per_s, 6) for count in self.sent.tolist()],
            "requests_per_s": [round(count * per_s, 6) for count in self.answered.tolist()],
            "output_tokens_per_s": [round(count * per_s, 6) for count in self.output_tokens.tolist()],
            "errors": {kind: counts.tolist() for kind, counts in self.errors.items()},
        }


def load_over_time(times: RequestTimes) -> LoadOverTime:
    rows, start = times.exchanges.rows, times.exchanges.start_ns
    ended = int(rows["end_ns"].max()) - start if len(rows) else 0
    slot_s = next((slot for slot in _SLOTS_S if ended / 1e9 / slot <= _MOST_SLOTS), _SLOTS_S[-1])
    slots = max(int(np.ceil(ended / 1e9 / slot_s)), 1)
    slot_ns = int(slot_s * 1e9)

    def count(at: Ints, weights: Any = None) -> Ints:
        places = np.clip((at - start) // slot_ns, 0, slots - 1)
        return np.rint(np.bincount(places, weights, minlength=slots)).astype(np.int64)

    was = rows["sent_ns"] > 0
    middles = start + slot_ns * np.arange(slots) + slot_ns // 2
    begun = np.searchsorted(np.sort(rows["sent_ns"][was]), middles, side="right")
    over = np.searchsorted(np.sort(rows["end_ns"][was]), middles, side="right")
    failures = np.asarray(times.replies.failures, dtype=object)
    kinds = sorted({kind for kind in times.replies.failures if kind})
    return LoadOverTime(
        slot_s=slot_s,
        in_flight=begun - over,
        sent=count(rows["sent_ns"][was]),
        answered=count(rows["end_ns"][times.good]),
        output_tokens=_tokens(times, count),
        errors={kind: count(rows["end_ns"][failures == kind]) for kind in kinds},
    )


def _tokens(times: RequestTimes, counted: Any) -> Ints:
    """Streamed tokens where they came, as many a chunk as the answer has on the average; others at the end."""
    replies = times.replies
    whole = times.good & (replies.chunks == 0)
    request = replies.chunk_request
    weight = (times.output_tokens / np.maximum(replies.chunks, 1))[request]
    streamed: Ints = counted(replies.chunk_at, weight)
    others: Ints = counted(times.exchanges.rows["end_ns"][whole], np.maximum(times.output_tokens[whole], 0))
    return streamed + others
