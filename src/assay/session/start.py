from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay.capture.environment import capture_environment
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.record import SessionFolder, SessionInfo
from assay.record.secrecy.secrets import Masker
from assay.record.session_files.session_kind import SessionKind
from assay.session.folders.name import session_name
from assay.session.folders.open_session import OpenSession
from assay.session.kept.masking import mask_environment, mask_inputs


def start_session(
    plan: Plan,
    name: str | None,
    reason: str | None,
    command: Sequence[str],
    masker: Masker,
    kind: SessionKind = "run",
) -> OpenSession:
    """Makes the folder of a new session, with all that is known before the first run."""
    try:
        return _start(plan, name, reason, command, masker, kind)
    except OSError as error:
        where = error.filename or plan.results_dir
        raise UsageError(f"results_dir {plan.results_dir} cannot be written: {error.strerror}: {where}") from None


def _start(
    plan: Plan, name: str | None, reason: str | None, command: Sequence[str], masker: Masker, kind: SessionKind
) -> OpenSession:
    now = datetime.now(UTC)
    plan.results_dir.mkdir(parents=True, exist_ok=True)
    folder = _make(plan, name, now)
    repository = plan.config_files[0].absolute().parent if plan.config_files else Path.cwd()
    said = masker.text(reason) if reason else None
    environment = mask_environment(
        capture_environment(repository, folder.path / "artifacts", said, plan.interpreter), masker
    )
    info = SessionInfo(
        name=folder.path.name,
        started_at=now.isoformat(timespec="microseconds"),
        command=tuple(masker.words(list(command))),
        config_files=tuple(str(file.absolute()) for file in plan.config_files),
        reason=environment.reason,
        pid=os.getpid(),
        planned=tuple(entry.name for entry in plan.entries),
        plan=mask_inputs(plan.inputs, masker),
        kind=kind,
        tags=plan.tags,
        entry_tags={entry.name: entry.tags for entry in plan.entries if entry.tags},
        runs={entry.name: entry.warmup + entry.repeat for entry in plan.entries},
        limits_s={entry.name: entry.timeout_s for entry in plan.entries},
        viewer_url=masker.text(viewer) if (viewer := plan.viewer_url(folder.path)) else None,
    )
    folder.write_environment(environment)
    folder.write_info(info)
    return OpenSession(folder, environment, info)


def _make(plan: Plan, name: str | None, now: datetime) -> SessionFolder:
    """Two sessions that start in one second each get their own folder: the file system decides who was first."""
    while True:
        path = plan.results_dir / session_name(name, plan.older_form, now, plan.results_dir)
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return SessionFolder(path)
