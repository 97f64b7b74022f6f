from __future__ import annotations

from dataclasses import dataclass

from assay.analysis.fields import Fields

_MOST_SLOTS = 500
_MOST_KINDS = 12

Values = tuple[float | None, ...]


@dataclass(frozen=True)
class LoadSeries:
    """The course of a load, in slots of equal length."""

    slot_s: float
    in_flight: Values
    sent_per_s: Values
    requests_per_s: Values
    output_tokens_per_s: Values
    errors: tuple[tuple[str, Values], ...]
    """Number of errors in each slot, by kind."""

    @classmethod
    def read(cls, written: Fields) -> LoadSeries | None:
        slot = written.number("slot_s")
        if slot is None or slot <= 0:
            return None
        kinds = written.inner("errors")
        return cls(
            slot_s=slot,
            in_flight=written.numbers("in_flight", _MOST_SLOTS),
            sent_per_s=written.numbers("sent_per_s", _MOST_SLOTS),
            requests_per_s=written.numbers("requests_per_s", _MOST_SLOTS),
            output_tokens_per_s=written.numbers("output_tokens_per_s", _MOST_SLOTS),
            errors=tuple(
                (str(kind)[:60], kinds.numbers(kind, _MOST_SLOTS)) for kind in list(kinds.written)[:_MOST_KINDS]
            ),
        )

    @property
    def slots(self) -> int:
        return len(self.in_flight)
