from __future__ import annotations

_GAP = " … "


def shorten(text: str, most: int) -> str:
    """The text in at most `most` characters: one that is too long loses its middle, between words where that costs
    little.

    A message begins with what happened and often ends with what it happened to: a file, a value.
    """
    if len(text) <= most:
        return text
    head = text[: (most - len(_GAP)) * 2 // 3]
    tail = text[len(text) - (most - len(_GAP) - len(head)) :]
    return _to_last_word(head) + _GAP + _to_last_word(tail[::-1])[::-1]


def _to_last_word(text: str) -> str:
    """The text without the piece of a word at its end, unless that is a long one, such as a path."""
    words = text.rstrip()
    cut = words.rfind(" ")
    return words[:cut].rstrip() if cut > len(words) // 2 else words
