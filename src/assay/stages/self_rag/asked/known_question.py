from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownQuestion:
    """A question of a question set, with what is known of it."""

    text: str
    answers: tuple[str, ...] = ()
    """Any of them is right; none where the set does not say."""
    document: str = ""
    """Id of the document or row that holds the answer; empty where there is none or the set does not say."""
