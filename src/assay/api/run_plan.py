from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assay.api.console import Console, Progress, Summary, Voice
from assay.api.listeners import HISTORY_TROUBLE, Guarded, HistoryListener, LinksListener, ReportListener, SinkListener
from assay.api.live_view import LiveView
from assay.api.session_changes import SessionChanges
from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.files.reading import RESULT, read_bytes
from assay.files.writing import write_atomic
from assay.history.history import History
from assay.record import Record, SessionFolder
from assay.record.secrets import Masker
from assay.report.html import write_report
from assay.session.events import Elsewhere, Event, Interrupts, Listener, SessionFinished
from assay.session.results.masked_records import session_masker
from assay.session.runs import Run, order_of, order_runs
from assay.session.session import Session, start_session
from assay.session.workspace import OpenSession
from assay.sinks.delivery.delivery import Delivery

if TYPE_CHECKING:
    from assay.analysis import Comparison
    from assay.analysis.verdict import VerdictDocument
    from assay.api.run import SessionRun


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
        history = self._open_history(folder)
        remembering = HistoryListener(history, folder, self._console.trouble) if history is not None else None
        self._remembering = remembering
        report = ReportListener(folder, history, lambda: self.comparison, self._console.trouble)

        def verdict() -> VerdictDocument | None:
            return remembering.verdict if remembering is not None else None

        listeners: list[tuple[str, Listener]] = []
        printed = self._console.voice is Voice.VERBOSE or older_form
        kept_lines = progress and self._console.live and not printed and not commands
        if progress:
            listeners += self._progress(notes, printed, commands, kept_lines)
        if remembering is not None:
            listeners.append(("the history", remembering))
        listeners += [
            ("the report", report),
            ("telling the sinks", SinkListener(self._delivery, verdict)),
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
    def verdict(self) -> VerdictDocument | None:
        """Known when the session has finished; None where the history cannot be used."""
        return self._remembering.verdict if self._remembering is not None else None

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


def nobody(event: Event) -> None:
    """Hears nothing: for runs that are no results of their own."""


def run_plan(
    plan: Plan,
    session: OpenSession,
    *,
    listen: Listener = nobody,
    order: Callable[[Plan], list[Run]] = order_runs,
    interrupts: Interrupts | None = None,
    elsewhere: Elsewhere | None = None,
) -> list[Record]:
    """All records of the session afterwards; what it holds already is not run again."""
    return Session(plan, session, listen, os.environ, interrupts, order, elsewhere).run()


@dataclass(frozen=True)
class Ran:
    records: tuple[Record, ...]
    interrupted: bool
    """Whether the user interrupted it."""
    verdict: VerdictDocument | None
    """Whether its gates hold, and what regressed against the level of earlier sessions."""
    comparison: Comparison | None
    """What changed against earlier sessions; None where none is comparable."""


def run_attached(plan: Plan, session: OpenSession, voice: Voice = Voice.NORMAL) -> Ran:
    """Runs a plan with progress, history, report and sinks listening."""
    delivery = Delivery(session.folder.path, plan.sinks)
    attached = Attached(
        plan.results_dir,
        session.folder,
        delivery,
        session_masker(plan, os.environ, sys.argv[1:]),
        voice,
        notes=plan.notes,
        on_host=plan.on_host,
        older_form=plan.older_form,
        commands=plan.commands,
    )
    with attached, Interrupts() as interrupts:
        records = run_plan(
            plan, session, listen=attached.listen, interrupts=interrupts,
            order=order_of(plan, session.info.name),
        )  # fmt: skip
    return Ran(tuple(records), interrupts.requested, attached.verdict, attached.comparison)


PROFILES = "profiles"


@dataclass(frozen=True)
class ProfiledEntry:
    entry: str
    graph: Path | None
    why: str = ""
    """Why there is no graph; empty where there is one."""


def profile_regressed(ran: SessionRun, command: Sequence[str]) -> list[ProfiledEntry]:
    """Runs each entry that regressed once more, under py-spy; the flame graphs go into the report.

    A profiled run is slower, so it is no result: it has a session of its own inside this one's folder, where neither
    the history nor a comparison looks, and nobody listens to it.
    """
    changes = SessionChanges.of(ran.folder) if ran.untouched else SessionChanges(ran.comparison, verdict=ran.verdict)
    if not changes.regressed:
        return []
    profiles = _profile([entry for entry in ran.plan.entries if entry.name in changes.regressed], ran, command)
    with History.beside(ran.plan.results_dir) as history:
        write_report(ran.folder, history=history, comparison=changes.comparison)
    return profiles


def _profile(entries: Sequence[Entry], ran: SessionRun, command: Sequence[str]) -> list[ProfiledEntry]:
    inside = ran.folder.path / PROFILES
    alone = tuple(
        replace(entry, profiler="py-spy", repeat=1, warmup=0, retries=0, needs=(), requirements=()) for entry in entries
    )
    plan = replace(ran.plan, entries=alone, results_dir=inside, artifacts_dir=inside / "artifacts", sinks=())
    reason = f"profiles of what regressed in {ran.folder.path.name}"
    session = start_session(plan, "profile", reason, command, session_masker(plan, os.environ, command), "profile")
    profiles = []
    for record in run_plan(plan, session):
        if "profile" not in record.files:
            profiles.append(ProfiledEntry(record.name, None, "; ".join(record.reasons) or str(record.outcome)))
            continue
        target = inside / f"{record.name}.svg"
        write_atomic(target, read_bytes(session.folder.path / record.files["profile"], RESULT))
        profiles.append(ProfiledEntry(record.name, target))
    return profiles
