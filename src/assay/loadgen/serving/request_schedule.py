"""Conversations under load: the next turn of each is sent when the last was answered and its user has thought."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.errors import UsageError
from assay.loadgen.http.event_stream import read_deltas
from assay.loadgen.http.exchanges import Exchange, Exchanges
from assay.loadgen.http.http_client import HttpClient
from assay.loadgen.load_result import Ints
from assay.loadgen.schedulers import LoadScheduler
from assay.loadgen.schedulers.scheduler import SCHEDULERS, draw
from assay.loadgen.serving.endpoint import Endpoint
from assay.loadgen.serving.load_settings import LoadAsked, LoadSettings
from assay.loadgen.serving.prompts import Conversation

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


_ENDLESS = 10_000_000
"""Requests at most of a closed loop that only a duration ends."""


@dataclass(frozen=True)
class LoadSchedule:
    """When requests are sent: at times known before the start, or when a place in flight is free."""

    asked: LoadAsked
    at_ns: Ints | None
    count: int
    in_flight: int | None
    grouped: bool = False

    @classmethod
    def of(cls, settings: LoadSettings, trace_ns: Ints | None) -> LoadSchedule:
        """`trace_ns`: times that the prompts bring with them; they hold unless a load of another kind is asked for."""
        settings = settings if trace_ns is not None else settings.with_end()
        own = settings.rate is None and settings.scheduler in (None, "trace") and trace_ns is not None
        if own and trace_ns is not None:
            return _of_trace(settings, trace_ns)
        name, scheduler = build_scheduler(settings)
        limits = (settings.requests, None if settings.duration_s is None else int(settings.duration_s * 1e9))
        if scheduler.concurrency is not None:
            asked = _make_load_asked(settings, name, scheduler.rate, scheduler.concurrency, "closed")
            return cls(asked, None, settings.requests or _ENDLESS, scheduler.concurrency, scheduler.grouped)
        try:
            at = draw(scheduler, settings.seed, *limits)
        except (TypeError, ValueError) as error:
            raise UsageError(f"--scheduler {settings.scheduler}: {error}") from None
        if not len(at):
            raise UsageError("no request would be sent in that time: give a longer --duration or a higher --rate")
        asked = _make_load_asked(settings, name, scheduler.rate, settings.concurrency, "open")
        return cls(asked, at, len(at), settings.concurrency)


def build_scheduler(settings: LoadSettings) -> tuple[str, LoadScheduler]:
    name, given = _read_scheduler(settings)
    component = SCHEDULERS.find(name)
    takes = inspect.signature(component).parameters
    for option, value in (("rate", settings.rate), ("concurrency", settings.concurrency)):
        if value is not None and option in takes:
            given.setdefault(option, value)
    if "streams" in takes and settings.concurrency is not None:
        given.setdefault("streams", settings.concurrency)
    if settings.rate is not None and "rate" not in takes:
        raise UsageError(f"--rate: the load scheduler {name} has none; leave one of the two out")
    if settings.scheduler is None:
        return name, component(**given)
    from assay.loadgen.colocation.build_components import BadArguments, construct  # what it imports delays a start

    try:
        return name, construct(component, given)
    except BadArguments as error:
        raise UsageError(f"--scheduler {settings.scheduler or name}: {error}") from None


def _read_scheduler(settings: LoadSettings) -> tuple[str, dict[str, Any]]:
    words = settings.scheduler
    if words is None:
        if settings.rate is not None:
            return "poisson", {}
        return "concurrent", {"concurrency": settings.concurrency or 1}
    if words.startswith("{"):
        try:
            written = json.loads(words)
            return str(written["component"]), dict(written.get("config") or {})
        except (ValueError, KeyError, TypeError):
            raise UsageError(f'--scheduler {words!r}: must be {{"component": NAME, "config": {{…}}}}') from None
    import yaml  # a start without --scheduler does not pay for it

    name, _, rest = words.partition(":")
    given = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"--scheduler {words!r}: write NAME:KEY=VALUE,KEY=VALUE")
        given[key.strip()] = yaml.safe_load(value)
    return name, given


def _of_trace(settings: LoadSettings, trace_ns: Ints) -> LoadSchedule:
    at = (trace_ns / settings.trace_speed).astype(np.int64)
    if settings.duration_s is not None:
        at = at[at < settings.duration_s * 1e9]
    at = at[: settings.requests]
    if not len(at):
        raise UsageError("no request of the trace falls into that time: give a longer --duration")
    rate = (len(at) - 1) / (int(at[-1]) / 1e9) if len(at) > 1 and at[-1] > 0 else None
    return LoadSchedule(
        _make_load_asked(settings, "trace", rate, settings.concurrency, "open"), at, len(at), settings.concurrency
    )


def _make_load_asked(
    settings: LoadSettings, name: str, rate: float | None, concurrency: int | None, loop: Any
) -> LoadAsked:
    return LoadAsked(
        name, rate, concurrency, settings.requests, settings.duration_s, settings.seed, loop, settings.objectives
    )
