"""Traces of Mooncake: when requests came, how long they were, and which blocks of 512 tokens their prompts share.

The text of a block is made from its id, so that requests with the same first ids have the same first text
(Qin et al., "Mooncake: A KVCache-centric Disaggregated Architecture for LLM Serving", 2024, section 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from assay.errors import DataError
from assay.loadgen.serving.prompts.conversation import Conversation, Turn
from assay.loadgen.serving.prompts.token_lengths import LONGEST
from assay.loadgen.serving.prompts.token_text import TokenText

BLOCK_TOKENS = 512


def is_mooncake(written: Mapping[str, Any]) -> bool:
    return "input_length" in written and "hash_ids" in written


class MooncakeBlocks:
    def __init__(self, text: TokenText, seed: int) -> None:
        self._text = text
        self._block = lru_cache(maxsize=4096)(
            lambda block: text.make(np.random.default_rng([seed, 2, block]), BLOCK_TOKENS)
        )

    def conversation(self, where: str, written: Mapping[str, Any]) -> Conversation:
        length, ids = _count(where, written, "input_length"), written["hash_ids"]
        answer = _count(where, written, "output_length")
        at = written.get("timestamp")
        if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at < float("inf"):
            raise DataError(f"{where}: timestamp must be a number of milliseconds, not {at!r}")
        if not isinstance(ids, list) or not all(type(block) is int and block >= 0 for block in ids):
            raise DataError(f"{where}: hash_ids must be a list of numbers")
        blocks = [self._block(block) for block in ids[: -(-length // BLOCK_TOKENS)]]
        missing = length - BLOCK_TOKENS * len(blocks)
        if missing > 0:
            blocks.append(self._text.make(np.random.default_rng([length, len(ids)]), missing))
        elif missing < 0:
            blocks[-1] = self._text.start(blocks[-1], BLOCK_TOKENS + missing)
        return Conversation((Turn(" ".join(blocks), answer),), (), at / 1e3)


def _count(where: str, written: Mapping[str, Any], name: str) -> int:
    value = written.get(name)
    if type(value) is not int or not 1 <= value <= LONGEST:
        raise DataError(f"{where}: {name} must be a number of tokens, 1 to {LONGEST}, not {value!r}")
    return value
