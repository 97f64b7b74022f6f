"""Traces of Mooncake: when requests came, how long they were, and which blocks of 512 tokens their prompts share.

The text of a block is made from its id, so that requests with the same first ids have the same first text
(Qin et al., "Mooncake: A KVCache-centric Disaggregated Architecture for LLM Serving", 2024, section 4.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import DataError
from assay.files.json_text import parse_json
from assay.files.reading import MB, NAMED, TRACE, RegularFile, read_bytes
from assay.loadgen.load_result import Ints
from assay.loadgen.serving.load_settings import MOST_DIFFERENT, LoadSettings
from assay.loadgen.serving.token_text import LONGEST, TokenizerText, TokenLengths, TokenText, WordText


@dataclass(frozen=True)
class Turn:
    """One thing that a user says."""

    text: str
    max_tokens: int | None = None
    """Longest answer, in tokens; None: as the load says."""
    think_s: float = 0.0
    """Seconds from the answer before to this turn."""
    answer: str | None = None
    """What was answered when it was recorded."""


@dataclass(frozen=True)
class Conversation:
    """What one user asks, turn after turn. A single prompt is a conversation of one turn."""

    turns: tuple[Turn, ...]
    messages: tuple[Mapping[str, Any], ...] = ()
    """What stands before the first turn: a system prompt, recorded history."""
    at_s: float | None = None
    """When it begins, in seconds from the start of a recorded trace."""


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


_USER = ("human", "user")
_SYSTEM = "system"


def is_sharegpt(written: Mapping[str, Any]) -> bool:
    return "conversations" in written


def sharegpt_conversation(
    where: str, written: Mapping[str, Any], text: TokenText, multi_turn: bool, think_s: float, at_s: float | None
) -> Conversation:
    """What a person said, turn after turn; the recorded answers say how long the new ones may be."""
    said = written["conversations"]
    if not isinstance(said, list) or not all(
        isinstance(part, Mapping) and isinstance(part.get("value"), str) and part.get("from") for part in said
    ):
        raise DataError(f"{where}: conversations must be a list of {{from, value}}")
    before = tuple({"role": "system", "content": part["value"]} for part in said if part["from"] == _SYSTEM)
    turns: list[Turn] = []
    for part, following in zip(said, [*said[1:], None], strict=True):
        if part["from"] not in _USER or not part["value"]:
            continue
        answered = following is not None and following["from"] not in (*_USER, _SYSTEM)
        answer = following["value"] if answered and following is not None else None
        longest = max(text.count([answer])[0], 1) if answer else None
        turns.append(Turn(part["value"], longest, think_s if turns else 0.0, answer))
        if not multi_turn:
            break
    if not turns:
        raise DataError(f"{where}: nothing in this conversation is from a human")
    return Conversation(tuple(turns), before, at_s)


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


# Files of prompts and traces, told apart by what a line holds.
#
# prompts.txt      a prompt a line
# *.jsonl          {"prompt": "…"} or {"messages": […]}, also with "timestamp" and "max_tokens"
#                  Mooncake: {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids": […]}
#                  ShareGPT: {"conversations": [{"from": "human", "value": "…"}, …]}
# *.json           a list of such objects

_PROMPT = ("prompt", "text", "input", "question")
_LENGTH = ("max_tokens", "output_length", "output_tokens")
_LONGEST_LINE = 64 * MB


@dataclass(frozen=True)
class PromptFile:
    path: Path
    multi_turn: bool = False
    """Whole conversations; otherwise the first thing that is said in each."""
    think_s: float = 0.0
    timestamp_unit_s: float = 1.0
    """Seconds of one unit of `timestamp`, in files other than Mooncake's."""

    def read(self, text: TokenText, seed: int, most: int | None) -> list[Conversation]:
        """Conversations in the order of the file, at most `most`."""
        found: list[Conversation] = []
        blocks = MooncakeBlocks(text, seed)
        try:
            for where, written in self._items():
                if most is not None and len(found) >= most:
                    break
                found.append(self._conversation(where, written, blocks, text))
        except FileNotFoundError:
            raise DataError(f"{self.path}: no such file of prompts") from None
        except UnicodeDecodeError:
            raise DataError(f"{self.path}: is no UTF-8 text") from None
        if not found:
            raise DataError(f"{self.path}: there is no prompt in it")
        timed = [conversation.at_s is not None for conversation in found]
        if any(timed) and not all(timed):
            bare = timed.index(False) + 1
            raise DataError(f"{self.path}: prompt {bare} has no timestamp, and others have: give all of them one")
        return self._from_zero(found) if all(timed) else found

    def _from_zero(self, found: list[Conversation]) -> list[Conversation]:
        """Conversations in the order of time, the first at 0."""
        ordered = sorted(found, key=lambda conversation: conversation.at_s or 0.0)
        first = ordered[0].at_s or 0.0
        return [Conversation(each.turns, each.messages, (each.at_s or 0.0) - first) for each in ordered]

    def _items(self) -> Iterator[tuple[str, Any]]:
        if self.path.suffix == ".json":
            written = parse_json(read_bytes(self.path, NAMED), self.path)
            if not isinstance(written, list):
                raise DataError(f"{self.path}: must be a list of conversations; one object a line belongs in a .jsonl")
            yield from ((f"{self.path}: item {number}", item) for number, item in enumerate(written, 1))
            return
        with RegularFile(self.path, TRACE) as file:
            for number, line in enumerate(file.lines(_LONGEST_LINE), 1):
                if not line.strip():
                    continue
                where = f"{self.path}:{number}"
                yield where, parse_json(line, where) if self.path.suffix == ".jsonl" else line.decode().rstrip("\r\n")

    def _conversation(self, where: str, written: Any, blocks: MooncakeBlocks, text: TokenText) -> Conversation:
        if isinstance(written, str):
            return Conversation((Turn(written),))
        if not isinstance(written, Mapping):
            raise DataError(f"{where}: must be a text or an object, not {type(written).__name__}")
        if is_mooncake(written):
            return blocks.conversation(where, written)
        at = _number(where, written, "timestamp")
        at_s = None if at is None else at * self.timestamp_unit_s
        if is_sharegpt(written):
            return sharegpt_conversation(where, written, text, self.multi_turn, self.think_s, at_s)
        length = next((_number(where, written, name) for name in _LENGTH if name in written), None)
        longest = None if length is None else int(length)
        if "messages" in written:
            before, last = _messages(where, written["messages"])
            return Conversation((Turn(last, longest),), before, at_s)
        said = next((written[name] for name in _PROMPT if name in written), None)
        if not isinstance(said, str) or not said:
            raise DataError(f"{where}: has none of prompt, messages, conversations, input_length with hash_ids")
        return Conversation((Turn(said, longest),), (), at_s)


def _number(where: str, written: Mapping[str, Any], name: str) -> float | None:
    value = written.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise DataError(f"{where}: {name} must be a number of at least 0, not {value!r}")
    return float(value)


def _messages(where: str, written: Any) -> tuple[tuple[Mapping[str, Any], ...], str]:
    """The messages before the last one of the user, and that one's text."""
    good = (
        isinstance(written, list)
        and written
        and all(
            isinstance(message, Mapping) and isinstance(message.get("content"), str) and message.get("role")
            for message in written
        )
    )
    if not good or written[-1]["role"] != "user":
        raise DataError(f"{where}: messages must be a list of {{role, content}}, the last of role user")
    before = tuple({"role": message["role"], "content": message["content"]} for message in written[:-1])
    return before, str(written[-1]["content"])


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
