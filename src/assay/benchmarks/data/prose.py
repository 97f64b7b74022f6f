from __future__ import annotations

from itertools import accumulate
from random import Random

from assay.benchmarks.data.languages import Language

_SYLLABLES = tuple(c + v for c in "bdfgklmnprstv" for v in ("a", "e", "i", "o", "u", "an", "or", "el"))


class Prose:
    """Seeded sentences with word frequencies as in real text (Zipf's law), names and numbers among them."""

    def __init__(self, language: Language, rng: Random) -> None:
        self.language = language
        self.rng = rng
        self._weights = list(accumulate(1.0 / (rank + 3) for rank in range(len(language.words))))

    def words(self, count: int) -> list[str]:
        chosen = self.rng.choices(self.language.words, cum_weights=self._weights, k=count)
        for at in range(count):
            roll = self.rng.random()
            if roll < 0.04:
                chosen[at] = self.name()
            elif roll < 0.06:
                chosen[at] = str(self.rng.randint(2, 2100))
        return chosen

    def name(self) -> str:
        return "".join(self.rng.choices(_SYLLABLES, k=self.rng.randint(2, 4))).capitalize()

    def sentence(self) -> str:
        words = self.words(self.rng.randint(6, 22))
        if len(words) > 12 and self.language.space:
            words[5] += ","
        text = self.language.space.join(words)
        return text[:1].upper() + text[1:] + self.language.stop.strip()

    def paragraph(self, sentences: int) -> str:
        gap = " " if self.language.space else ""
        return gap.join(self.sentence() for _ in range(sentences))

    def document(self, paragraphs: int) -> list[str]:
        return [self.paragraph(self.rng.randint(2, 7)) for _ in range(paragraphs)]
