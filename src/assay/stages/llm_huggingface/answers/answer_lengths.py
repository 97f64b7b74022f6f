from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated, Any, Literal
from zlib import crc32

import numpy as np
from pydantic import Field

from assay.stages.pytorch.options import Options

Count = Annotated[int, Field(ge=1)]


class LengthOptions(Options):
    """`lengths`: how many tokens answers have, drawn for each prompt."""

    distribution: Literal["uniform", "normal", "lognormal"] = "lognormal"
    mean: Annotated[float, Field(gt=0)] | None = None
    std: Annotated[float, Field(ge=0)] | None = None
    min: Count = 1
    max: Count

    def check(self) -> None:
        if self.min > self.max:
            raise ValueError(f"lengths: min {self.min} is more than max {self.max}")
        needed = self.distribution != "uniform"
        for key in ("mean", "std"):
            if needed is (getattr(self, key) is None):
                raise ValueError(f"lengths: {self.distribution} {'needs' if needed else 'has no'} {key}")

    def draw(self, rng: np.random.Generator) -> int:
        if self.distribution == "uniform":
            return int(rng.integers(self.min, self.max, endpoint=True))
        assert self.mean is not None
        assert self.std is not None
        if self.distribution == "normal":
            value = rng.normal(self.mean, self.std)
        else:
            spread = log(1 + (self.std / self.mean) ** 2)
            value = rng.lognormal(log(self.mean) - spread / 2, sqrt(spread))
        return int(min(max(round(value), self.min), self.max))


@dataclass(frozen=True)
class AnswerLengths:
    """The fewest and the most tokens of an answer.

    A drawn length depends on its prompt and the seed alone: whatever the order of queries, and however many came
    before, the same prompt has an answer of the same length, so that runs can be compared.
    """

    least: int
    most: int
    drawn: LengthOptions | None = None
    seed: int = 0

    @classmethod
    def read(
        cls, max_new_tokens: int | None, min_new_tokens: int | None, lengths: Mapping[str, Any] | None, seed: int
    ) -> AnswerLengths:
        """Reads the keys of a stage. With `min_new_tokens` alone, answers have exactly that many tokens."""
        for key, value in (("max_new_tokens", max_new_tokens), ("min_new_tokens", min_new_tokens)):
            if value is not None and value < 1:
                raise ValueError(f"{key} must be at least 1, not {value}")
        if lengths is not None:
            if max_new_tokens is not None or min_new_tokens is not None:
                raise ValueError("lengths: leave max_new_tokens and min_new_tokens out; lengths has min and max")
            drawn = LengthOptions.read("lengths", lengths)
            drawn.check()
            return cls(drawn.min, drawn.max, drawn, seed)
        most = max_new_tokens or min_new_tokens or MOST
        if min_new_tokens is not None and min_new_tokens > most:
            raise ValueError(f"min_new_tokens {min_new_tokens} is more than max_new_tokens {most}")
        return cls(min_new_tokens or 1, most, None, seed)

    def of(self, prompt: str) -> tuple[int, int]:
        if self.drawn is None:
            return self.least, self.most
        length = self.drawn.draw(np.random.default_rng([abs(self.seed), crc32(prompt.encode())]))
        return length, length


MOST = 32
"""Tokens of an answer at most, where nothing is said."""
