from __future__ import annotations

from html import escape

HEIGHT = 480
"""Pixels of a page inside a notebook; it scrolls."""


def frame(page: str) -> str:
    """A whole page inside another. It keeps its own style, and nothing of it can run in the notebook around it."""
    return (
        f'<iframe sandbox srcdoc="{escape(page)}" title="Comparison" loading="lazy" '
        f'style="width: 100%; height: {HEIGHT}px; border: 1px solid #8884"></iframe>'
    )
