from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assay.api.history_levels import HistoryLevels
from assay.api.listeners.console import Console
from assay.api.listeners.guarded import Guarded
from assay.api.listeners.history_listener import HISTORY_TROUBLE, HistoryListener
from assay.api.listeners.links_listener import LinksListener
from assay.api.listeners.live_view import LiveView
from assay.api.listeners.progress import Progress
from assay.api.listeners.report_listener import ReportListener
from assay.api.listeners.sink_listener import SinkListener
from assay.api.listeners.summary import Summary
from assay.api.listeners.voice import Voice
from assay.history.history import History
from assay.record import SessionFolder
from assay.record.secrecy.secrets import Masker
from assay.session.events import Event, Listener, SessionFinished
from assay.session.kept.requirement_check import EarlierLevels, NoEarlierLevels
from assay.sinks.delivery.delivery import Delivery

if TYPE_CHECKING:
    from assay.analysis import Comparison

SINK_WAIT_S = 20.0


class Attached:
    """What listens to a session: progress, history, report and sinks, each behind a guard of its own.

    At the end they are told in this order: the report comes after the history, which it reads, and before the sinks,
    which send it.
    """

    def __init__(
        self,
        results_dir: Path,
        folder: SessionFolder,
        delivery: Delivery,
        masker: Masker,
        voice: Voice = Voice.NORMAL,
        progress: bool = True,
        notes: tuple[str, ...] = (),
        on_host: Callable[[Path], Path] = lambda path: path,
        older_form: bool = False,
        commands: bool = False,
    ) -> None:
        """`notes`: what planning found out; said when the session starts. `on_host`: where the host of a container has
        a path. `older_form`: log lines are on the screen too. `commands`: the entries are commands of the command
        line."""
        self._results_dir = results_dir
        self._closing = ExitStack()
        self._console = self._closing.enter_context(Console(folder.log, masker, voice=voice))
        self._delivery = delivery
        self.past: EarlierLevels = NoEarlierLevels()
        history = self._open_history(folder)
        remembering = HistoryListener(history, folder, self._console.trouble) if history is not None else None
        self._remembering = remembering
        report = ReportListener(folder, history, lambda: self.comparison, self._console.trouble)

        def changes() -> list[str]:
            return remembering.changes if remembering is not None else []

        listeners: list[tuple[str, Listener]] = []
        printed = self._console.voice is Voice.VERBOSE or older_form
        kept_lines = progress and self._console.live and not printed and not commands
        if progress:
            listeners += self._progress(notes, printed, commands, kept_lines)
        if remembering is not None:
            listeners.append(("the history", remembering))
        listeners += [
            ("the report", report),
            ("telling the sinks", SinkListener(self._delivery, changes)),
            ("printing links", LinksListener(self._console, self._delivery.new_links)),
            ("the summary", Summary(folder, self._console, remembering, lambda: report.path, on_host, kept_lines)),
            ("closing the sinks", self._close_sinks),
        ]
        self._listeners = [Guarded(name, listener, self._console.trouble) for name, listener in listeners]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.close()

    @property
    def comparison(self) -> Comparison | None:
        """What changed against earlier sessions; known when the session has finished, None where none is comparable."""
        return self._remembering.comparison if self._remembering is not None else None

    @property
    def regressed(self) -> bool:
        """Known when the session has finished."""
        return self._remembering is not None and self._remembering.regressed

    def listen(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)
        if isinstance(event, SessionFinished):
            self._console.say_troubles()

    def _progress(
        self, notes: tuple[str, ...], printed: bool, commands: bool, kept_lines: bool
    ) -> list[tuple[str, Listener]]:
        """Log lines, which session.log has in any case, and on a terminal what goes on. A pipe has the log lines of a
        session as they come; of commands the result is enough."""
        console = self._console
        piped = not console.live and not commands
        printed = console.voice is not Voice.QUIET and (printed or piped)
        found: list[tuple[str, Listener]] = [("progress", Progress(console, notes, printed=printed))]
        if console.live:
            expected = self._remembering.usual_duration if self._remembering is not None else lambda name: None
            view = LiveView(console, notes=() if printed else notes, expected=expected, keep_lines=kept_lines)
            found.append(("the live view", view))
        return found

    def _open_history(self, folder: SessionFolder) -> History | None:
        results = self._results_dir
        try:
            history = self._closing.enter_context(History.beside(results))
        except HISTORY_TROUBLE as error:
            self._console.trouble(
                f"the history cannot be used ({error}); `assay history import` adds this session later"
            )
            return None
        self.past = HistoryLevels(history, results, self._console.trouble)
        return history

    def _close_sinks(self, event: Event) -> None:
        if not isinstance(event, SessionFinished):
            return
        if not self._delivery.specs:
            self._delivery.close(wait_s=0)
            return
        for status in self._delivery.close(wait_s=SINK_WAIT_S):
            self._console.say(f"Sink {status}")
            for name, link in status.links:
                self._console.say(f"  {name}: {link}")
