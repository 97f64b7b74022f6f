from __future__ import annotations

from collections.abc import Callable

from assay.session.events import Event, Listener


class Guarded:
    """A listener whose failure costs only itself: it is said once, and it hears no more of this session."""

    def __init__(self, name: str, listener: Listener, trouble: Callable[[str], None]) -> None:
        self._name = name
        self._listener: Listener | None = listener
        self._trouble = trouble

    def __call__(self, event: Event) -> None:
        if self._listener is None:
            return
        try:
            self._listener(event)
        except Exception as error:  # noqa: BLE001 - whatever it is, the run it listens to must not feel it
            self._listener = None
            why = " ".join(f"{type(error).__name__}: {error}".split())
            self._trouble(f"{self._name} failed and hears no more of this session: {why}")
