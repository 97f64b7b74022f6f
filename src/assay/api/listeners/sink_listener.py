from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.session.events import Event, RunFinished, RunStarted, SessionFinished, SessionStarted
from assay.sinks.delivery.delivery import Delivery


class SinkListener:
    """Tells the sinks; none of these calls waits for one. `changes` is asked when the session is over."""

    def __init__(self, delivery: Delivery, changes: Callable[[], Sequence[str]]) -> None:
        self._delivery = delivery
        self._changes = changes

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionStarted):
            self._delivery.session_started(event.info, event.environment)
        elif isinstance(event, RunStarted):
            self._delivery.run_started(event.run_id, event.name)
        elif isinstance(event, RunFinished):
            self._delivery.run_finished(event.record)
        elif isinstance(event, SessionFinished):
            self._delivery.session_finished(event.info, "\n".join(self._changes()))
