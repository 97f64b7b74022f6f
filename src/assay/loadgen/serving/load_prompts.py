from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.loadgen.measured import Ints
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.prompts.conversation import Conversation
from assay.loadgen.serving.prompts.prompt_file import PromptFile
from assay.loadgen.serving.prompts.synthetic import SyntheticPrompts
from assay.loadgen.serving.prompts.token_text import TokenizerText, TokenText, WordText

MOST_DIFFERENT = 4096
"""Prompts that are made up for one run; a run of more requests uses them again."""


@dataclass(frozen=True)
class LoadPrompts:
    """What the requests of a load say, in order; they begin again where there are more requests."""

    conversations: list[Conversation]
    text: TokenText
    max_tokens: int
    """Longest answer to a prompt that does not say its own."""

    @classmethod
    def of(cls, settings: LoadSettings) -> LoadPrompts:
        text: TokenText = WordText() if settings.tokenizer is None else TokenizerText(settings.tokenizer)
        asked, answers = settings.lengths
        longest = int(answers.draw(np.random.default_rng(settings.seed), 1)[0])
        if settings.prompts is not None:
            unit = 1e-3 if settings.timestamp_unit == "ms" else 1.0
            file = PromptFile(settings.prompts, settings.multi_turn, settings.think_s, unit)
            return cls(file.read(text, settings.seed, settings.requests), text, longest)
        count = MOST_DIFFERENT if settings.requests is None else min(settings.requests, MOST_DIFFERENT)
        made = SyntheticPrompts(
            asked, answers, settings.turns, settings.think_s, settings.prefix_tokens, settings.prefixes
        )
        return cls(made.make(text, settings.seed, count), text, longest)

    @property
    def times_ns(self) -> Ints | None:
        """When each is asked, by the trace that they come from."""
        if self.conversations[0].at_s is None:
            return None
        return np.asarray([int((each.at_s or 0.0) * 1e9) for each in self.conversations], np.int64)

    def input_tokens(self, number: int) -> int:
        """Tokens of the first turn of prompt `number`, everything before it included."""
        each = self.conversations[number]
        return sum(self.text.count([*(str(m["content"]) for m in each.messages), each.turns[0].text]))
