from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.loadgen.measured import Ints
from assay.loadgen.serving.replies.replies import Replies

Source = Literal["usage", "tokenizer", "chunks", "none"]


@dataclass(frozen=True)
class TokenCounts:
    """Tokens of each request by the server's `usage` and by a tokenizer; -1 where one does not say."""

    usage_input: Ints
    usage_output: Ints
    tokenizer_input: Ints
    tokenizer_output: Ints
    chunks: Ints

    @classmethod
    def of(cls, replies: Replies, tokenizer_input: Ints | None, tokenizer_output: Ints | None) -> TokenCounts:
        unknown = np.full(len(replies.failures), -1, np.int64)
        return cls(
            replies.usage_input,
            replies.usage_output,
            unknown if tokenizer_input is None else tokenizer_input,
            unknown if tokenizer_output is None else tokenizer_output,
            replies.chunks,
        )

    @property
    def output(self) -> Ints:
        """The count that figures stand on: `usage`, without it the tokenizer's, without both one token a chunk."""
        told = np.where(self.tokenizer_output >= 0, self.tokenizer_output, self.chunks)
        return np.where(self.usage_output >= 0, self.usage_output, told)

    @property
    def input(self) -> Ints:
        return np.where(self.usage_input >= 0, self.usage_input, self.tokenizer_input)

    @property
    def source(self) -> Source:
        """Where most output counts come from."""
        if not len(self.usage_output):
            return "none"
        if np.count_nonzero(self.usage_output >= 0) * 2 > len(self.usage_output):
            return "usage"
        if np.count_nonzero(self.tokenizer_output >= 0) * 2 > len(self.usage_output):
            return "tokenizer"
        return "chunks" if self.chunks.any() else "none"
