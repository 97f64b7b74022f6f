from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.loadgen.serving.prompts.conversation import Conversation, Turn
from assay.loadgen.serving.prompts.token_lengths import TokenLengths
from assay.loadgen.serving.prompts.token_text import TokenText


@dataclass(frozen=True)
class SyntheticPrompts:
    """Prompts that nobody wrote, of known length; the same for the same seed."""

    prompt_tokens: TokenLengths
    max_tokens: TokenLengths
    turns: int = 1
    think_s: float = 0.0
    prefix_tokens: int = 0
    """Length of the beginning that prompts share."""
    prefixes: int = 1
    """Different beginnings, drawn for each prompt."""

    def make(self, text: TokenText, seed: int, count: int) -> list[Conversation]:
        rng = np.random.default_rng([seed, 1])
        shared = [text.make(rng, self.prefix_tokens) for _ in range(self.prefixes)] if self.prefix_tokens else []
        asked = self.prompt_tokens.draw(rng, count * self.turns).tolist()
        answers = self.max_tokens.draw(rng, count * self.turns).tolist()
        texts = text.make_many(rng, asked)
        which = rng.integers(0, len(shared), count).tolist() if shared else []
        found = []
        for number in range(count):
            turns = []
            for turn in range(self.turns):
                place = number * self.turns + turn
                said = f"{shared[which[number]]} {texts[place]}" if shared and turn == 0 else texts[place]
                turns.append(Turn(said, answers[place], self.think_s if turn else 0.0))
            found.append(Conversation(tuple(turns)))
        return found
