from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.api.listeners.console import Console
from assay.session.events import Event, SessionFinished, SessionStarted

Link = tuple[str, str]
"""What is to be seen, and where."""


class LinksListener:
    """Says where a session can be watched as soon as that is known.

    `known` is what is known before anything runs. `announced` gives what the sinks have learnt since it was last
    asked; nobody waits for them.
    """

    def __init__(self, console: Console, announced: Callable[[], Sequence[Link]], known: Sequence[Link] = ()) -> None:
        self._console = console
        self._announced = announced
        self._known = known

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionFinished):
            return  # the sinks' last words have them all
        if isinstance(event, SessionStarted):
            self._say(self._known)
        self._say(self._announced())

    def _say(self, links: Sequence[Link]) -> None:
        for name, address in links:
            if "://" in address:  # a file of ours is of use when it is whole
                self._console.say(f"\t{name}: {address}")
