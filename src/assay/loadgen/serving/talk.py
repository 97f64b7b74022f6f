"""Conversations under load: the next turn of each is sent when the last was answered and its user has thought."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from assay.loadgen.http.exchanges import Exchange, Exchanges
from assay.loadgen.http.http_client import HttpClient
from assay.loadgen.http.reading.read_deltas import read_deltas
from assay.loadgen.serving.endpoint import Endpoint
from assay.loadgen.serving.prompts.conversation import Conversation

History = Literal["server", "recorded"]


class Talk:
    """Keeps all conversations of one run going.

    A turn whose answer failed ends its conversation: what would follow was said to an answer that never came.
    """

    def __init__(
        self, client: HttpClient, endpoint: Endpoint, conversations: list[Conversation], max_tokens: int,
        history: History, total: int,
    ) -> None:  # fmt: skip
        self._client = client
        self._endpoint = endpoint
        self._conversations = conversations
        self._max_tokens = max_tokens
        self._history = history
        self._left = total
        self._next = 0
        self._running: dict[int, tuple[Conversation, int, list[Mapping[str, Any]]]] = {}
        self.inputs: dict[int, list[Mapping[str, Any]]] = {}
        """What each request said, by its number."""

    def begin(self, at_ns: int | None = None) -> bool:
        """Start one more conversation; False where there are no more."""
        if self._left <= 0:
            return False
        self._left -= 1
        conversation = self._conversations[self._next % len(self._conversations)]
        self._next += 1
        self._say(conversation, 0, list(conversation.messages), at_ns)
        return True

    def on_end(self, replace_ended: bool) -> Callable[[int], None]:
        """What the client calls for each answer. `replace_ended`: a conversation that ends makes place for another."""

        def handle_end(number: int) -> None:
            conversation, turn, said = self._running.pop(number)
            answer = self._client.answer(number)
            if answer.fault.wrong or turn + 1 >= len(conversation.turns):
                if replace_ended:
                    self.begin(self._client.now_ns())
                return
            reply = conversation.turns[turn].answer if self._history == "recorded" else None
            said = [*said, {"role": "assistant", "content": _text(answer) if reply is None else reply}]
            at = self._client.now_ns() + int(conversation.turns[turn + 1].think_s * 1e9)
            self._say(conversation, turn + 1, said, at)

        return handle_end

    def _say(self, conversation: Conversation, turn: int, said: list[Mapping[str, Any]], at_ns: int | None) -> None:
        now = conversation.turns[turn]
        said = [*said, {"role": "user", "content": now.text}]
        message = self._endpoint.message(said, now.max_tokens or self._max_tokens)
        number = self._client.submit(message, at_ns)
        self._running[number] = (conversation, turn, said)
        self.inputs[number] = said


def _text(answer: Exchange) -> str:
    """What was answered, read as all answers are after the run."""
    one = answer.row.copy().reshape(1)
    one["body_start"] = one["piece_start"] = 0
    return read_deltas(Exchanges(one, answer.pieces, np.frombuffer(answer.body, np.uint8), 0, "")).text(0)
