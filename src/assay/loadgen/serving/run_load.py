"""One load on one endpoint, from what a user asked for to what was measured.

    point = run_load(LoadSettings(url="http://localhost:8000", rate=10, duration_s=30))
    point.times.values("ttft_s"), point.verdict.of_server, point.errors

`LoadRunner` keeps the connections for several loads on the same endpoint, as a sweep of rates needs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Thread
from time import monotonic_ns
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from assay.loadgen.http.exchanges import Exchanges, mask
from assay.loadgen.http.http_client import ClientLimits, HttpClient, RequestPlan
from assay.loadgen.http.open_client import open_client
from assay.loadgen.load_result import Ints
from assay.loadgen.serving.clients import ClientShare, StartTime, deal
from assay.loadgen.serving.endpoint import Endpoint
from assay.loadgen.serving.load_point import LoadPoint
from assay.loadgen.serving.load_settings import MOST_DIFFERENT, LoadAsked, LoadSettings
from assay.loadgen.serving.prompts import LoadPrompts
from assay.loadgen.serving.replies import read_replies
from assay.loadgen.serving.request_metrics import TokenCounts
from assay.loadgen.serving.request_schedule import LoadSchedule, Talk
from assay.loadgen.serving.saturation import Saturation, find_saturation, join_saturation
from assay.loadgen.serving.served_models import ServerRefused, with_model

if TYPE_CHECKING:
    from assay.loadgen.serving.clients import ClientProcesses


_LOOK_EVERY_NS = 250_000_000


class SaturationWatch:
    """Stops an open loop whose server falls further and further behind."""

    def __init__(self, client: HttpClient, at_ns: Ints) -> None:
        self._client = client
        self._at = at_ns
        self._numbers: list[int] = []
        self._ended: list[int] = []
        self._looked = 0
        self.found: Saturation | None = None

    def on_end(self, number: int) -> None:
        now = self._client.now_ns()
        self._numbers.append(number)
        self._ended.append(now)
        if now - self._looked < _LOOK_EVERY_NS or self.found is not None:
            return
        self._looked = now
        ended = np.asarray(self._ended, np.int64)
        latency = ended - self._at[np.asarray(self._numbers)]
        self.found = find_saturation(self._at[self._at <= now], ended, latency, now)
        if self.found is not None:
            self._client.stop()


# Ending a load by a signal.
#
# The main thread is inside compiled code while a load runs, where Python's handlers have to wait. The byte that the
# interpreter writes for each signal (`signal.set_wakeup_fd`) does not: a thread waits for it.

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stopping_on_signal(stop: Callable[[], None]) -> Iterator[None]:
    """While the block runs, SIGTERM and SIGINT call `stop` and nothing else."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    before = {number: signal.signal(number, lambda *_: None) for number in _SIGNALS}
    last = signal.set_wakeup_fd(told)

    def wait() -> None:
        if os.read(heard, 1) != b"\0":
            stop()

    waiting = Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(last)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.write(told, b"\0")
        waiting.join()
        os.close(heard)
        os.close(told)


_MOST_CONNECTIONS = 256
"""Connections made before the clock of an open loop starts; more are made when they are needed."""
_FAILURES_IN_A_ROW = 200


def run_load(settings: LoadSettings, ceiling: Callable[[LoadPoint], float | None] | None = None) -> LoadPoint:
    with LoadRunner(settings, ceiling) as runner:
        return runner.run()


class LoadRunner:
    """Loads on one endpoint. Entering it connects, asks for the model and sends the warm-up.

    `ceiling`: says for a measured load how many such requests a second the client gets through.
    """

    def __init__(self, settings: LoadSettings, ceiling: Callable[[LoadPoint], float | None] | None = None) -> None:
        self.settings = settings
        self.prompts = LoadPrompts.of(settings)
        self.endpoint = Endpoint.of(settings)
        self._ceiling = ceiling
        self._warmed = 0
        self._running: HttpClient | ClientProcesses | None = None
        self.stopped = False

    def __enter__(self) -> Self:
        """Raises ServerRefused where the first request shows that no other will be answered."""
        with self._client(1) as client:
            client.connect(1)
            self.endpoint = with_model(self.endpoint, client)
            for number in range(self.settings.warmup):
                self._warm(client, number)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        return None

    def stop(self) -> None:
        """End the load soon; what was measured is kept. May be called by the handler of a signal."""
        self.stopped = True
        if self._running is not None:
            self._running.stop()

    def run(self, rate: float | None = None, least: int = 0) -> LoadPoint:
        """Runs one load, at another `rate` if one is given. `least`: fewest requests, where the settings say a
        number."""
        settings = self.settings if rate is None else replace(self.settings, rate=rate)
        if settings.requests is not None:
            settings = replace(settings, requests=max(settings.requests, least))
        schedule = LoadSchedule.of(settings, self.prompts.times_ns)
        if settings.conversational:
            return self._run_talk(settings, schedule)
        plan = self._plan(schedule)
        if settings.processes == 1:
            found, saturation = self._send(ClientShare(plan, schedule.in_flight), monotonic_ns)
        else:
            found, saturation = self._send_by_processes(deal(plan, schedule.in_flight, settings.processes))
        numbers = found.rows["message"].astype(np.int64)
        return self._point(schedule.asked, found, saturation, self._input_counts(numbers))

    def _send(self, share: ClientShare, start_time: StartTime) -> tuple[Exchanges, Saturation | None]:
        settings, plan = self.settings, share.plan
        with self._client(share.in_flight) as client:
            client.connect(min(share.in_flight or _MOST_CONNECTIONS, plan.count, _MOST_CONNECTIONS * 16))
            client.submit_plan(plan)
            watch = None
            if plan.at_ns is not None and settings.stop_saturated:
                watch = SaturationWatch(client, plan.at_ns)
            begin = start_time()
            if not self.stopped:
                client.run(
                    on_end=None if watch is None else watch.on_end,
                    send_for_s=None if plan.at_ns is not None else settings.with_end().duration_s,
                    start_ns=begin,
                )
            return mask(client.exchanges(), self.endpoint.target.secrets()), watch.found if watch else None

    def _send_by_processes(self, shares: list[ClientShare]) -> tuple[Exchanges, Saturation | None]:
        from assay.loadgen.serving.clients import ClientProcesses, join_exchanges

        def run(share: ClientShare, start_time: StartTime) -> tuple[Exchanges, Saturation | None]:
            with stopping_on_signal(self.stop):
                return self._send(share, start_time)

        self._running = processes = ClientProcesses(shares, run)
        if self.stopped:
            processes.stop()
        parts = processes.results()
        seen = [saturation for _, saturation in parts if saturation is not None]
        return join_exchanges([found for found, _ in parts]), join_saturation(seen) if seen else None

    def _client(self, in_flight: int | None) -> HttpClient:
        settings = self.settings
        limits = ClientLimits(
            most_in_flight=in_flight,
            connect_s=settings.connect_s,
            idle_s=settings.idle_s,
            total_s=settings.total_s,
            failures_in_a_row=_FAILURES_IN_A_ROW,
        )
        self._running = client = open_client(self.endpoint.target, limits)
        return client

    def _plan(self, schedule: LoadSchedule) -> RequestPlan:
        used = self.prompts.conversations[: schedule.count]
        if any(each.messages for each in used):
            messages = [self._message(number) for number in range(len(used))]
        else:
            longest = self.prompts.max_tokens
            said = [(each.turns[0].text, each.turns[0].max_tokens or longest) for each in used]
            messages = self.endpoint.prompt_messages(said)
        return RequestPlan(
            messages,
            schedule.count,
            at_ns=schedule.at_ns,
            cancel_after_s=self.settings.cancel_after_s,
            cancel_after_events=self.settings.cancel_after_tokens,
            grouped=schedule.grouped,
        )

    def _message(self, number: int) -> bytes:
        each = self.prompts.conversations[number % len(self.prompts.conversations)]
        said = [*each.messages, {"role": "user", "content": each.turns[0].text}]
        return self.endpoint.message(said, each.turns[0].max_tokens or self.prompts.max_tokens)

    def _warm(self, client: HttpClient, number: int) -> None:
        """Sends one warm-up request. Its prompt is from the end of the list, so that the first ones measured are in no
        cache of the server."""
        client.submit(self._message(-1 - number))
        client.run()
        found = mask(client.exchanges(), self.endpoint.target.secrets())
        client.forget()
        replies = read_replies(found, self.endpoint.kind)
        if replies.failures[0] and number == 0:
            status = int(found.rows["status"][0])
            raise ServerRefused.of_first(self.endpoint, status, replies.failures[0], replies.messages[0])
        self._warmed += 1

    def _run_talk(self, settings: LoadSettings, schedule: LoadSchedule) -> LoadPoint:
        """Runs a load of conversations: at a rate they begin by the schedule, otherwise a fixed number goes on at a
        time."""
        places = schedule.in_flight or 1
        asked = replace(schedule.asked, loop="open" if schedule.at_ns is not None else "conversations")
        with self._client(None if schedule.at_ns is not None else places) as client:
            client.connect(min(places if schedule.at_ns is None else _MOST_CONNECTIONS, _MOST_CONNECTIONS))
            talk = Talk(
                client, self.endpoint, self.prompts.conversations, self.prompts.max_tokens, settings.history,
                schedule.count,
            )  # fmt: skip
            if schedule.at_ns is not None:
                for at in schedule.at_ns.tolist():
                    talk.begin(at)
            else:
                for _ in range(min(places, schedule.count)):
                    talk.begin(0)
            if not self.stopped:
                client.run(
                    on_end=talk.on_end(replace_ended=schedule.at_ns is None),
                    send_for_s=settings.with_end().duration_s,
                    start_ns=monotonic_ns(),
                )
            found = mask(client.exchanges(), self.endpoint.target.secrets())
        inputs = None
        if settings.tokenizer is not None:
            said = [talk.inputs[number] for number in sorted(talk.inputs)][: len(found)]
            inputs = np.asarray([sum(self.prompts.text.count([str(m["content"]) for m in one])) for one in said])
        return self._point(replace(asked, concurrency=None if asked.loop == "open" else places), found, None, inputs)

    def _input_counts(self, numbers: Ints) -> Ints | None:
        if self.settings.tokenizer is None:
            return None
        counted = {int(number): self.prompts.input_tokens(int(number)) for number in np.unique(numbers)}
        return np.asarray([counted[int(number)] for number in numbers], np.int64)

    def _point(
        self, asked: LoadAsked, found: Exchanges, saturation: Saturation | None, inputs: Ints | None
    ) -> LoadPoint:
        replies = read_replies(found, self.endpoint.kind)
        outputs = None
        if self.settings.tokenizer is not None and self.endpoint.kind not in ("http", "embeddings"):
            outputs = np.asarray(
                self.prompts.text.count([replies.text(place) for place in range(len(found))]), np.int64
            )
        point = LoadPoint(
            replace(asked, processes=self.settings.processes), found, replies,
            TokenCounts.of(replies, inputs, outputs), saturation, None, self._warmed,
            tuple(self._notes(len(found))), self.stopped,
        )  # fmt: skip
        return point if self._ceiling is None or self.stopped else replace(point, ceiling=self._ceiling(point))

    def _notes(self, sent: int) -> list[str]:
        ended = (
            ["the load was ended before its time: these are figures of what was sent by then"] if self.stopped else []
        )
        different = len(self.prompts.conversations)
        if sent <= different or self.endpoint.kind == "http":
            return ended
        made = f" ({MOST_DIFFERENT} are made up at most)" if different == MOST_DIFFERENT else ""
        again = f"{sent} requests used {different} different prompts{made}: a server that caches them answers faster"
        return [*ended, again]
