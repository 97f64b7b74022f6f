from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from assay.report.svg.axis import Axis
from assay.report.svg.tick import Tick

_WITHIN = Decimal("1e-9")
"""Share of a step by which a tick may lie beyond an end: one that is round but for a float's last bit has its tick."""


def linear_ticks(axis: Axis, most: int) -> list[Tick]:
    """Ticks, at most `most` + 1, in steps of 1, 2 or 5 times a power of ten. Reckoned in decimals, so that none is
    off."""
    low, high = axis.exact
    raw = (high - low) / most
    steps = [Decimal(digit).scaleb(raw.adjusted()) for digit in ("0.5", "1", "2", "5", "10")]
    fits = next(place for place, step in enumerate(steps) if step >= raw * (1 - _WITHIN))
    step = steps[fits]
    if not (values := _multiples(step, low, high)):
        step = steps[fits - 1]  # two steps can be longer than the axis, which then lies between two multiples
        values = _multiples(step, low, high)
    top = max(abs(value) for value in values)
    written = _plain if _is_plain(top, step) else _scientific
    return [Tick(axis.share_of(value), written(value, step)) for value in values]


def _multiples(step: Decimal, low: Decimal, high: Decimal) -> list[Decimal]:
    number = ((low / step) - _WITHIN).to_integral_value(ROUND_CEILING)
    values = []
    while number * step <= high + step * _WITHIN:
        values.append(number * step)
        number += 1
    return values


def _is_plain(top: Decimal, step: Decimal) -> bool:
    """Whether numbers are written plainly: where that is short enough, or shorter than in powers of ten."""
    plain = len(f"{top:,.{_decimals(step)}f}")
    return plain <= 7 or plain <= len(_scientific(top, step))


def _decimals(step: Decimal) -> int:
    return max(0, -step.adjusted())


def _plain(value: Decimal, step: Decimal) -> str:
    return f"{value + 0:,.{_decimals(step)}f}".replace("-", "−")


def _scientific(value: Decimal, step: Decimal) -> str:
    if value == 0:
        return "0"
    mantissa, _, power = f"{value:.{max(0, value.adjusted() - step.adjusted())}e}".partition("e")
    return f"{mantissa.replace('-', '−')}e{int(power)}"
