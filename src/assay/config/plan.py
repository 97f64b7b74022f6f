from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config.entry import Entry
from assay.config.entry_name import GPU_STATS_INTERVAL_S, literal, viewer_url
from assay.config.selection import Selection
from assay.errors import ConfigError, UsageError
from assay.names import list_names, unknown

if TYPE_CHECKING:  # pydantic: a plan that no file says is made without it
    from assay.config.load_config import Config
    from assay.config.resolve import Resolver
    from assay.config.session_config import GpuStatsRecorder


@dataclass(frozen=True)
class Plan:
    """What a session will do, in order."""

    entries: tuple[Entry, ...]
    results_dir: Path
    artifacts_dir: Path
    sinks: tuple[Mapping[str, Any], ...] = ()
    config_files: tuple[Path, ...] = ()
    older_form: bool = False
    baseline: str | None = None
    reserve_disk_mb: float = 512.0
    tags: tuple[str, ...] = ()
    """What the session is found by."""
    notes: tuple[str, ...] = ()
    """What planning found out and the log is to say."""
    interpreter: str | None = None
    """Python of all scripts that name none themselves and are not bundled; None: the one that runs Assay."""
    gpu_stats_recorder: GpuStatsRecorder | None = None
    """Recorder that the files ask for; None where they do not."""
    viewer_url_template: str | None = None
    host_results_dir: Path | None = None
    """Where the host has `results_dir`, in a container that has it somewhere else."""
    links_hold: bool = True
    """Whether a relative link from results to artifacts leads there on the host too."""
    warnings: tuple[str, ...] = ()
    """What in the files may be a mistake."""
    commands: bool = False
    """Whether the entries are commands of the command line: compared with each other, they come in an order that is
    drawn anew each round."""
    asked: tuple[str, ...] = ()
    """Names of the entries that were chosen themselves: without data setups, and without what comes along as needed."""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """What the user gave, so that the session can be resumed."""

    @property
    def gpu_stats_interval_s(self) -> float:
        recorder = self.gpu_stats_recorder
        return GPU_STATS_INTERVAL_S if recorder is None else recorder.interval_s

    def entry(self, name: str) -> Entry:
        return next(entry for entry in self.entries if entry.name == name)

    @property
    def is_gate(self) -> bool:
        """Whether a regression fails the session. Not for a command that is run by itself: its user looks at the
        numbers."""
        return bool(self.config_files)

    def with_results_dir(self, folder: Path) -> Plan:
        """The plan with results elsewhere; artifacts that are among them go along."""
        if folder == self.results_dir:
            return self
        if self.artifacts_dir != self.results_dir / "artifacts":
            return replace(self, results_dir=folder, host_results_dir=None)
        return replace(
            self, results_dir=folder, host_results_dir=None, artifacts_dir=folder / "artifacts", links_hold=True
        )

    def on_host(self, path: Path) -> Path:
        """Where the host has what is at `path` here, if it is among the results."""
        if self.host_results_dir is None or not path.is_relative_to(self.results_dir):
            return path
        return self.host_results_dir / path.relative_to(self.results_dir)

    def viewer_url(self, session: Path) -> str | None:
        """Where the session can be looked at, with paths as those outside of a container see them."""
        if self.viewer_url_template is None:
            return None
        results = self.host_results_dir or self.results_dir
        return viewer_url(self.viewer_url_template, str(results), session.name, str(results / session.name))


def make_plan(
    config: Config,
    environment: Mapping[str, str],
    entries: str | None = None,
    entries_exact: tuple[str, ...] | None = None,
) -> Plan:
    """Raises ConfigError with every problem that makes the plan ambiguous."""
    from assay.config.paths import SessionPaths
    from assay.config.resolve import Resolver

    session = config.session
    paths = SessionPaths(config, environment)
    resolver = Resolver(config, environment, paths)
    setups = [resolver.entry("data_setups", at) for at in range(len(session.data_setups))]
    planned = [resolver.entry("entries", at) for at in range(len(session.entries))]
    problems = resolver.problems + _needs(setups + planned, resolver) + _none(config, planned)
    if problems:
        raise ConfigError(problems)
    asked = _find_asked(setups, planned, entries, entries_exact)
    chosen = _choose(setups, planned, asked)
    results = Path(paths.named.on_host(str(paths.results_dir)))
    template = literal(session.viewer_url) if session.viewer_url is not None else session.viewer_url_template
    return Plan(
        entries=tuple(_order(chosen)),
        asked=tuple(entry.name for entry in planned if entry.name in asked),
        results_dir=paths.results_dir,
        artifacts_dir=paths.artifacts_dir,
        sinks=tuple(session.sinks),
        config_files=config.files,
        older_form=config.older_form,
        baseline=session.baseline,
        reserve_disk_mb=session.reserve_disk_mb,
        tags=tuple(dict.fromkeys(session.tags)),
        interpreter=resolver.interpreter,
        gpu_stats_recorder=session.gpu_stats_recorder,
        viewer_url_template=template,
        host_results_dir=results if paths.named.contained else None,
        links_hold=_way(paths.results_dir, paths.artifacts_dir)
        == _way(results, Path(paths.named.on_host(str(paths.artifacts_dir)))),
        warnings=(*config.warnings, *resolver.warnings),
    )


def _way(results: Path, artifacts: Path) -> str:
    return os.path.relpath(artifacts, results)


def _none(config: Config, planned: list[Entry]) -> list[str]:
    """The problem of a plan without entries: a session that measures nothing would pass whatever is wrong."""
    if planned:
        return []
    files = ", ".join(map(str, config.files))
    return [f"{files}: entries: there is none to run: it is missing or empty, or all are switched off (enabled: false)"]


def _needs(entries: list[Entry], resolver: Resolver) -> list[str]:
    names = {entry.name for entry in entries}
    problems = [
        f"{entry.where}: {entry.name}.needs: {unknown('entry', need, sorted(names))}; or it is switched off"
        for entry in entries
        for need in entry.needs
        if need not in names
    ]
    if problems:
        return problems
    done: set[str] = set()
    while True:
        ready = [entry.name for entry in entries if entry.name not in done and set(entry.needs) <= done]
        if not ready:
            break
        done.update(ready)
    circle = [entry for entry in entries if entry.name not in done]
    return [f"{entry.where}: {entry.name}.needs: entries that need each other can never start" for entry in circle[:1]]


def _find_asked(
    setups: list[Entry], planned: list[Entry], expression: str | None, exact: tuple[str, ...] | None
) -> set[str]:
    """Data setups are run whatever is asked for; by name one can ask for nothing else."""
    names = [entry.name for entry in planned]
    if exact is not None:
        known = [entry.name for entry in setups] + names
        missing = [name for name in exact if name not in known]
        if missing:
            raise UsageError("\n".join(f"--entries-exact: {unknown('entry', name, known)}" for name in missing))
        return {name for name in exact if name in names}
    if expression is None:
        return set(names)
    selection = Selection(expression)
    asked = {name for name in names if selection(name)}
    if not asked:
        raise UsageError(f"--entries {expression!r} matches none of the entries: {list_names(names)}")
    return asked


def _choose(setups: list[Entry], planned: list[Entry], asked: set[str]) -> list[Entry]:
    """Entries that were asked for, with those they need and the data setups."""
    wanted = set(asked)
    everything = {entry.name: entry for entry in [*setups, *planned]}
    pending = list(wanted)
    while pending:
        for need in everything[pending.pop()].needs:
            if need not in wanted:
                wanted.add(need)
                pending.append(need)
    return [*setups, *(entry for entry in planned if entry.name in wanted)]


def _order(entries: list[Entry]) -> list[Entry]:
    """Entries in the order of the files, except that what an entry needs comes before it."""
    ordered: list[Entry] = []
    placed: set[str] = set()
    names = {entry.name: entry for entry in entries}

    def place(entry: Entry) -> None:
        if entry.name in placed:
            return
        placed.add(entry.name)
        for need in entry.needs:
            place(names[need])
        ordered.append(entry)

    for entry in entries:
        place(entry)
    return ordered
