from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.api.attached import Attached
from assay.api.listeners.voice import Voice
from assay.config.plan import Plan
from assay.record import Record
from assay.session.elsewhere import Elsewhere
from assay.session.events import Event, Listener
from assay.session.folders.open_session import OpenSession
from assay.session.interrupts import Interrupts
from assay.session.kept.masking import session_masker
from assay.session.kept.requirement_check import EarlierLevels, NoEarlierLevels
from assay.session.run import Run, order_of, order_runs
from assay.session.session import Session
from assay.sinks.delivery.delivery import Delivery

if TYPE_CHECKING:
    from assay.analysis import Comparison


def nobody(event: Event) -> None:
    """Hears nothing: for runs that are no results of their own."""


def run_plan(
    plan: Plan,
    session: OpenSession,
    *,
    listen: Listener = nobody,
    past: EarlierLevels | None = None,
    order: Callable[[Plan], list[Run]] = order_runs,
    interrupts: Interrupts | None = None,
    elsewhere: Elsewhere | None = None,
) -> list[Record]:
    """All records of the session afterwards; what it holds already is not run again."""
    return Session(plan, session, listen, past or NoEarlierLevels(), os.environ, interrupts, order, elsewhere).run()


@dataclass(frozen=True)
class Ran:
    records: tuple[Record, ...]
    interrupted: bool
    """Whether the user interrupted it."""
    regressed: bool
    """Whether something regressed against the level of earlier sessions."""
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
            plan, session, listen=attached.listen, past=attached.past, interrupts=interrupts,
            order=order_of(plan, session.info.name),
        )  # fmt: skip
    return Ran(tuple(records), interrupts.requested, attached.regressed, attached.comparison)
