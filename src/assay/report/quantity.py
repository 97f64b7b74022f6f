"""Numbers as people read them: four digits that matter, the unit's usual steps, nothing rounded to a false zero."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

from assay.record.metric import as_float

# Text that programs wrote, made safe to show: escape sequences and other control characters become visible.

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def printable(text: str, *, keep_lines: bool = False) -> str:
    """Colours are dropped; anything else that could move a terminal's cursor or turn text around is written out."""
    if text.isprintable():
        return text
    return "".join(_make_visible(char, keep_lines) for char in _COLOURS.sub("", text))


def _make_visible(char: str, keep_lines: bool) -> str:
    if char == "\t" or (keep_lines and char == "\n"):
        return char
    # Cc: control, Cf: format (among them the marks that reverse direction), Cs: lone surrogates.
    if unicodedata.category(char) in ("Cc", "Cf", "Cs"):
        return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
    return char


_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_STEPS = {"s": _SECONDS, "seconds": _SECONDS}
_BYTES = ("B", "kB", "MB", "GB", "TB")


def number(value: float) -> str:
    value = as_float(value) if isinstance(value, int) and abs(value) >= 10**15 else value
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-4:
        return _minus(f"{value:.3e}")
    if value == int(value) and size < 1e15:
        return _minus(f"{int(value):,}")
    digits = max(0, 3 - math.floor(math.log10(size)))
    text = f"{value:,.{digits}f}"
    return _minus(text.rstrip("0").rstrip(".") if "." in text else text)


def quantity(value: Any, unit: str | None = None) -> str:
    """A metric's value with its unit. Booleans and words are shown as they are."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        return str(value)
    value = as_float(value) if isinstance(value, int) and abs(value) >= 10**15 else value
    if unit in _STEPS and math.isfinite(value) and 0 < abs(value) < 1:
        scale, step = next((s for s in _STEPS[unit] if abs(value) >= s[0]), _STEPS[unit][-1])
        return f"{number(_four(value / scale))} {step}"
    if unit in ("B", "bytes") and math.isfinite(value) and abs(value) >= 1000:
        power = min(int(math.log(abs(value), 1000)), len(_BYTES) - 1)
        return f"{number(_four(value / 1000**power))} {_BYTES[power]}"
    if unit in ("%", "×"):
        return number(value) + unit
    return f"{number(value)} {unit}" if unit else number(value)


def round_quantity(value: float | None, unit: str | None = None) -> str:
    """A measured number in three digits: more of them would be noise."""
    return "–" if value is None else quantity(float(f"{value:.3g}"), unit)


def duration(seconds: float) -> str:
    """Length of a run or a session in words: `840 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`."""
    if not math.isfinite(seconds) or seconds < 0:
        return "–"
    if seconds < 1:
        return quantity(seconds, "s") if seconds else "0 s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def percent(ratio: float) -> str:
    """A ratio as a change: 1.05 → `+5.0%`."""
    change = (ratio - 1) * 100
    digits = 1 if abs(change) < 100 else 0
    return _minus(f"{change:+.{digits}f}") + "%"


def _four(value: float) -> float:
    return float(f"{value:.4g}")


def _minus(text: str) -> str:
    return text.replace("-", "−") if "e" not in text else text
