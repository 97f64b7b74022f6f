"""Shares as people write them: 0.03 is `3%`."""

from __future__ import annotations


def share(value: float) -> str:
    """A limit or a spread: `3%`, `12.4%`, `0.05%`."""
    size = abs(value) * 100
    return f"{size:.0f}%" if size >= 100 else f"{size:.3g}%"


def share_in_tenths(value: float) -> str:
    """A change that was measured, in tenths of a per cent: `15.0%`, and two digits where that would be none."""
    size = abs(value) * 100
    if size >= 100:
        return f"{size:.0f}%"
    return f"{size:.1f}%" if size >= 0.05 else f"{size:.2g}%"
