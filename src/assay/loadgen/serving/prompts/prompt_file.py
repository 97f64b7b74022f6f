"""Files of prompts and traces, told apart by what a line holds.

prompts.txt      a prompt a line
*.jsonl          {"prompt": "…"} or {"messages": […]}, also with "timestamp" and "max_tokens"
                 Mooncake: {"timestamp": ms, "input_length": n, "output_length": n, "hash_ids": […]}
                 ShareGPT: {"conversations": [{"from": "human", "value": "…"}, …]}
*.json           a list of such objects
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.loadgen.serving.prompts.conversation import Conversation, Turn
from assay.loadgen.serving.prompts.mooncake import MooncakeBlocks, is_mooncake
from assay.loadgen.serving.prompts.sharegpt import is_sharegpt, sharegpt_conversation
from assay.loadgen.serving.prompts.token_text import TokenText
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import MB, NAMED, TRACE
from assay.untrusted.regular_file import RegularFile, read_bytes

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
