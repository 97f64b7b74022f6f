from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assay.config.plan import Plan
from assay.record import Record
from assay.session.events import Listener
from assay.session.folders.open_session import OpenSession
from assay.session.interrupts import Interrupts
from assay.session.run import Run


class RunPlan(Protocol):
    """Runs what a plan has and a session has not yet; all its records. An experiment is handed one."""

    def __call__(
        self,
        plan: Plan,
        session: OpenSession,
        *,
        listen: Listener,
        order: Callable[[Plan], list[Run]],
        interrupts: Interrupts | None,
    ) -> list[Record]: ...
