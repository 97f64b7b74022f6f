"""The three ways to run a session: a new one, one that was cut short, one entry of an earlier one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.api.console import Voice
from assay.api.results import Records
from assay.api.results_dir import remember_results_dir
from assay.api.run_inputs import RunInputs, restore_inputs
from assay.api.run_plan import run_attached
from assay.config import DEFAULT_TIMEOUT_S
from assay.config.entry_name import check_tag
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.files.json_text import encode
from assay.history.find_session import find_session
from assay.names import unknown
from assay.record import Record, SessionFolder
from assay.record.session_folder import SessionKind
from assay.session.results.masked_records import session_masker
from assay.session.resume import is_complete, reopen_session
from assay.session.session import start_session
from assay.sinks.delivery.delivery import is_told
from assay.sinks.sink import SinkSpec

if TYPE_CHECKING:
    from assay.analysis import Comparison
    from assay.analysis.verdict import VerdictDocument
    from assay.api.run_plan import Ran


@dataclass(frozen=True)
class Change:
    """What may differ when the files of an earlier session are read again: its variables may be gone by now."""

    lenient_config: bool = False
    no_sink: tuple[str, ...] = ()

    def apply(self, inputs: RunInputs) -> RunInputs:
        return replace(
            inputs,
            lenient_config=inputs.lenient_config or self.lenient_config,
            no_sink=(*inputs.no_sink, *self.no_sink),
        )


NO_CHANGE = Change()


@dataclass(frozen=True)
class SessionRun:
    """What came of it. `interrupted`: the user cut it short. `verdict`: whether its gates hold, and what regressed."""

    plan: Plan
    folder: SessionFolder
    records: tuple[Record, ...]
    interrupted: bool = False
    verdict: VerdictDocument | None = None
    untouched: bool = False
    """It was complete: nothing was run, and nothing of it was changed."""
    comparison: Comparison | None = None
    """What changed against earlier sessions, as the end of the session said; None where none is comparable."""

    @classmethod
    def of(cls, plan: Plan, folder: SessionFolder, ran: Ran) -> SessionRun:
        return cls(plan, folder, ran.records, ran.interrupted, ran.verdict, comparison=ran.comparison)

    @property
    def is_gate(self) -> bool:
        """Whether a verdict may fail it: not a command that is run by itself, whose user looks at the numbers."""
        return self.plan.is_gate


def run_new(
    inputs: RunInputs,
    *,
    name: str | None = None,
    reason: str | None = None,
    command: Sequence[str],
    voice: Voice = Voice.NORMAL,
) -> SessionRun:
    plan = inputs.plan()
    name = name or (plan.entries[0].name if inputs.without_files else None)
    return _run_new(plan, name, reason, command, voice)


def inputs_of(session: str, results_dir: Path, change: Change = NO_CHANGE) -> RunInputs:
    """What a session was started with."""
    return change.apply(restore_inputs(find_session(session, results_dir).info(), os.environ))


def run_on(session: str, results_dir: Path, change: Change = NO_CHANGE, voice: Voice = Voice.NORMAL) -> SessionRun:
    """Goes on with a session that was cut short, from the files and options it was started with."""
    folder = SessionFolder(find_session(session, results_dir).path.absolute())
    info = folder.info()
    if info.joined and info.status == "running":
        raise UsageError(
            f"session {info.name} is open for jobs: finish it first (assay run --join {info.name} --finish), "
            "then --resume runs what is missing"
        )
    plan = inputs_of(session, results_dir, change).plan().with_results_dir(folder.path.parent)
    remember_results_dir(plan.results_dir)
    from assay.analysis.verdict import read_verdict  # only where there is one to read

    if is_complete(folder, plan) and is_told(folder.path, [SinkSpec.parse(spec) for spec in plan.sinks]):
        return SessionRun(plan, folder, tuple(folder.records()), verdict=read_verdict(folder.path), untouched=True)
    return SessionRun.of(plan, folder, run_attached(plan, reopen_session(folder, plan), voice))


def run_again(run: str, results_dir: Path, command: Sequence[str], change: Change = NO_CHANGE) -> SessionRun:
    """One entry once more, in a session of its own, from the files and options its session was started with.

    `run` is a run's id, or SESSION/ENTRY.
    """
    word, _, rest = run.partition("/")
    name = rest.partition("/")[0]
    folder = find_session(word, results_dir)
    info = folder.info()
    if name not in info.planned:
        raise UsageError(unknown("entry", name, info.planned, of=f"session {info.name}"))
    plan = change.apply(restore_inputs(info, os.environ)).plan()
    entries = tuple(entry for entry in plan.entries if entry.name == name)
    if not entries:
        raise UsageError(f"the files of session {info.name} no longer have an entry {name!r}")
    alone = replace(entries[0], repeat=1, warmup=0, needs=())
    plan = replace(plan, entries=(alone,)).with_results_dir(folder.path.absolute().parent)
    return _run_new(plan, f"rerun-{name}"[:120], f"rerun of {info.name}/{name}", command, Voice.NORMAL, kind="rerun")


def _run_new(
    plan: Plan, name: str | None, reason: str | None, command: Sequence[str], voice: Voice, kind: SessionKind = "run"
) -> SessionRun:
    session = start_session(plan, name, reason, command, session_masker(plan, os.environ, command), kind)
    remember_results_dir(plan.results_dir)
    return SessionRun.of(plan, session.folder, run_attached(plan, session, voice))


def run(
    config: str | Path | Sequence[str | Path] | None = None,
    *,
    command: Sequence[str] | None = None,
    entries: str | None = None,
    set: Mapping[str, Any] | Sequence[str] = (),
    runs: int = 10,
    warmup: int = 0,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    name: str | None = None,
    reason: str | None = None,
    tags: Sequence[str] = (),
    results_dir: str | Path | None = None,
    quiet: bool = False,
) -> Records:
    """Runs a session from YAML, or a command several times, as `assay run` does; its records.

    `entries` selects ('alm and not slow*'); `set` changes values of the files, `{"entries.NAME.timeout_s": 60}` or
    `["entries.NAME.timeout_s=60"]`; `runs`, `warmup` and `timeout_s` are for a command; `tags` are
    what the session is found by. A run that fails is a record
    like any other: ask `.passed`. Interrupted, it raises KeyboardInterrupt once everything is on disk.
    """
    if (config is None) == (command is None):
        raise UsageError("assay.run takes a config file or a command: assay.run('assay.yaml'), assay.run(command=[…])")
    if isinstance(command, str):
        raise UsageError(f"command is a list of words, never run by a shell: {command.split()}")
    files = [config] if isinstance(config, str | Path) else config or ()
    inputs = RunInputs(
        config=tuple(str(Path(file).absolute()) for file in files),
        command=tuple(map(str, command or ())),
        entries=entries,
        set=_overrides(set),
        runs=runs,
        warmup=warmup,
        timeout_s=timeout_s,
        tags=_tags(tags),
        results_dir=str(Path(results_dir).absolute()) if results_dir is not None else None,
    )
    voice = Voice.SILENT if quiet else Voice.NORMAL
    ran = run_new(inputs, name=name, reason=reason, command=["python", *sys.argv], voice=voice)
    if ran.interrupted:
        raise KeyboardInterrupt
    return Records((record for record in ran.records if record.counts), ran.folder.path.absolute().parent)


def _tags(given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise UsageError(f"tags takes a list: tags=[{given!r}]")
    try:
        return tuple(check_tag(tag) for tag in given)
    except ValueError as error:
        raise UsageError(f"tags: {error}") from None


def _overrides(given: Mapping[str, Any] | Sequence[str]) -> tuple[str, ...]:
    """JSON is YAML, so a value keeps its type; a string stays the string it is."""
    if isinstance(given, str):
        raise UsageError(f"set takes a mapping or a list: set=[{given!r}]")
    if isinstance(given, Mapping):
        return tuple(f"{key}={encode(value)}" for key, value in given.items())
    return tuple(given)
