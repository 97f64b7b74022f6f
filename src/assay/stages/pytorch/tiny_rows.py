"""Rows of instruction, input and output, made here: for a tokenizer, for training, and for questions to a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

_WORDS = (
    "river",
    "garden",
    "winter",
    "bridge",
    "harbour",
    "signal",
    "kitchen",
    "window",
    "teacher",
    "journey",
    "council",
    "picture",
    "machine",
    "forest",
    "railway",
    "market",
    "engine",
    "letter",
    "number",
    "morning",
    "paper",
    "village",
    "station",
    "weather",
    "history",
    "measure",
    "light",
    "water",
    "answer",
    "question",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLACES = ("in the north", "near the old mill", "behind the school", "by the sea", "under the hill")
_COLOURS = ("red", "green", "blue", "white", "yellow")

SIZES = {"train": 512, "validation": 64, "test": 64}
"""Rows of each split."""


@dataclass(frozen=True)
class TinyRow:
    instruction: str
    input: str
    output: str


def _sum(rng: Random) -> TinyRow:
    a, b = rng.randrange(10), rng.randrange(10)
    return TinyRow("You are a helpful assistant that adds numbers.", f"What is {a} plus {b}?", f"The sum is {a + b}.")


def _spelling(rng: Random) -> TinyRow:
    word = rng.choice(_WORDS)
    return TinyRow("You spell words, one letter after the other.", f"Spell the word {word}.", " ".join(word))


def _day(rng: Random) -> TinyRow:
    at = rng.randrange(7)
    question = f"Which day comes after {_DAYS[at]}?"
    return TinyRow("You answer questions about the calendar.", question, f"It is {_DAYS[(at + 1) % 7]}.")


def _colour(rng: Random) -> TinyRow:
    word, place, colour = rng.choice(_WORDS), rng.choice(_PLACES), rng.choice(_COLOURS)
    text = f"The {word} {place} is {colour}. What colour is the {word}?"
    return TinyRow("You read a sentence and answer the question about it.", text, f"The {word} is {colour}.")


def _list(rng: Random) -> TinyRow:
    """Without an input, as some rows of real sets of instructions are."""
    words = rng.sample(_WORDS, rng.randint(2, 6))
    return TinyRow(f"Put these words in the order of the alphabet: {', '.join(words)}.", "", ", ".join(sorted(words)))


_KINDS: tuple[Callable[[Random], TinyRow], ...] = (_sum, _spelling, _day, _colour, _list)


def tiny_rows(split: str = "train") -> list[TinyRow]:
    """The same rows at every call. Splits differ by their seed; short questions may stand in several of them."""
    rng = Random(f"tiny rows {split}")
    return [rng.choice(_KINDS)(rng) for _ in range(SIZES[split])]
