"""Words read out of what models say."""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.stages.self_rag.asked.question import Question
from assay.stages.self_rag.asked.reply import fields_of

_YES = {"yes": True, "true": True, "no": False, "false": False}


def first_of(words: Iterable[str], text: str) -> str | None:
    """The one of the words that comes first in the text, as a whole word in any case."""
    found = re.search(rf"\b({'|'.join(map(re.escape, words))})\b", text.casefold())
    return found.group(1) if found else None


def choice(words: Iterable[str], question: Question) -> str | None:
    """Which of the words the model's last answer names, first of all in its fields where it has any."""
    words = list(words)
    said = [str(value) for value in fields_of(question.parsed).values()]
    return next((word for text in (*said, question.said) if (word := first_of(words, text))), None)


def yes_or_no(question: Question) -> bool | None:
    """None where the model's last answer is neither."""
    word = choice(_YES, question)
    return None if word is None else _YES[word]


def holds(text: str, answer: str) -> bool:
    """Whether the answer stands in the text, whatever the case and punctuation; `12,400` is `12400`."""
    wanted = _plain(answer)
    return bool(wanted) and f" {wanted} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", re.sub(r"(?<=\d),(?=\d)", "", text.casefold())))
