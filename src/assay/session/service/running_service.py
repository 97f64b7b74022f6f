from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from assay.config.service.service import Service
from assay.process.result import ProcessResult, Unended, unended_warnings
from assay.process.spec import ProcessSpec
from assay.process.supervised import Supervised
from assay.process.usage.tree import tree_cpu_s
from assay.session.kept.last_words import last_words
from assay.session.service.address import ServiceAddress, answers
from assay.session.service.ready_check import ReadyCheck

STOPPED = "stopped"
_LOOK_EVERY_S = 0.1
_LINES_OF_LOG = 3


class ServiceFailed(Exception):
    """Says why a service could not be used, in the words of a reason."""


class RunningService:
    """One start of a service, under a supervisor process of its own: it ends with Assay, whatever happens.

    `Supervised` is used by one thread only, which also carries out what the others ask for.
    """

    def __init__(self, service: Service, address: ServiceAddress, spec: ProcessSpec) -> None:
        """`service`: with every placeholder filled in."""
        self.service = service
        self.address = address
        self.log = Path(spec.combined)
        self.samples = spec.usage_csv or Path()
        self._spec = spec
        self._check = ReadyCheck(service, address, self.log, spec.env, spec.cwd)
        self._wanted = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._result: ProcessResult | None = None
        self._asked_at = self._ready_at = 0.0
        self._spawned = float("inf")
        self.ended_at = 0.0
        self.runs = 0
        """Programs that it has served."""

    def start(self, abandoned: Callable[[], bool]) -> None:
        """Starts it and waits until it is ready. Raises ServiceFailed; what was started is then still to be ended."""
        host, port = self.address.endpoint
        if port is not None and "://" in self.address.url and answers(host, port):
            raise ServiceFailed(
                f"the service was not started: something else takes connections at {host}:{port}, and would be "
                "measured in its place; end it, or give the service a free port with {port}"
            )
        self._asked_at = time.monotonic()
        try:
            self._supervised = Supervised(self._spec)
        except OSError as error:
            raise ServiceFailed(f"the service could not be started: {error.strerror or error}") from None
        self._thread.start()
        limit = self._asked_at + self.service.ready_timeout_s
        wait_s = 0.01
        while not self._check_passes():
            if self.over:
                raise ServiceFailed(self._early_end())
            if abandoned():
                raise ServiceFailed("interrupted by the user before the service was ready")
            if time.monotonic() >= limit:
                why = f"the service was not ready after {self.service.ready_timeout_s:g} s: {self._check.why_not}"
                raise ServiceFailed(why)
            self._over.wait(wait_s)
            wait_s = min(wait_s * 1.5, 0.25)
        self._ready_at = time.monotonic()

    @property
    def begun(self) -> float:
        """Moment (monotonic clock, seconds) at which its process was started: what its supervisor has told since."""
        return self._spawned if self._spawned < float("inf") else self._asked_at

    @property
    def ready_s(self) -> float:
        """Seconds from its start until it could be used."""
        return max(self._ready_at - self.begun, 0.0)

    @property
    def over(self) -> bool:
        return self._over.is_set()

    def cpu_s(self) -> float:
        """CPU seconds of all its processes so far, those that have ended among them."""
        if self.over:
            return float((self._result or ProcessResult()).usage.get("cpu_s", 0.0))
        return tree_cpu_s(self._supervised.tree.root)

    def how_it_ended(self) -> str:
        result = self._result or ProcessResult(unseen="its end could not be seen")
        if result.failure:
            return f"could not be started: {result.failure}"
        if result.ended_because == "memory":
            return f"used more memory than its limit of {self.service.limits.memory:g} MB and was ended"
        code = result.returncode
        if result.unseen or code is None:
            return f"was lost: {result.unseen or 'its end could not be seen'}"
        if code < 0:
            return f"was ended by signal {_signal_name(-code)}"
        return f"ended with code {code}"

    def last_lines(self) -> list[str]:
        return [f"{self.log.name}: {line}" for line in last_words(self.log, lines=_LINES_OF_LOG)]

    def end(self, hurried: Callable[[], bool] = lambda: False) -> list[str]:
        """Ends all of it: SIGTERM, after `stop_timeout_s` or when `hurried` says so SIGKILL. Warnings about it."""
        ended_before = self.over
        self._wanted += 1
        while self._thread.is_alive():
            if self._wanted == 1 and hurried():
                self._wanted += 1
            self._thread.join(_LOOK_EVERY_S)
        result = self._result
        if result is None:
            return []
        warnings = []
        if not ended_before and result.returncode == -signal.SIGKILL and self.service.stop_timeout_s:
            warnings.append(
                f"the service did not end within {self.service.stop_timeout_s:g} s of SIGTERM: it was killed"
            )
        return [*warnings, *unended_warnings(self.unended, " of the service")]

    @property
    def unended(self) -> tuple[Unended, ...]:
        """What of it could not be ended."""
        return () if self._result is None else self._result.immortal

    def _check_passes(self) -> bool:
        """Whether the service is ready. That it still runs is checked first: what answers after its end is not the
        service."""
        return not self.over and self._check.passes() and not self.over

    def _early_end(self) -> str:
        how = self.how_it_ended()
        return f"the service {how}" if "could not be started" in how else f"the service {how} before it was ready"

    def _watch(self) -> None:
        told = 0
        try:
            for status in self._supervised.statuses(_LOOK_EVERY_S):
                if status is not None:
                    self._spawned = min(self._spawned, time.monotonic() - status.elapsed_s)
                while told < self._wanted:
                    told += 1
                    self._supervised.end(STOPPED)
            self._result = self._supervised.result
        finally:
            self.ended_at = time.monotonic()
            self._over.set()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
