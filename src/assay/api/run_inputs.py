"""What a session was started with, read back. Secrets are not kept: each is `***NAME***` there, and asked for again."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from assay.api.command_lines import CommandLines, entry_name, escape_braces
from assay.api.results_dir import results_folder
from assay.compat.user_code import describe_used
from assay.config import DEFAULT_TIMEOUT_S
from assay.config.entry import BUNDLED, Entry, Parameter, Script
from assay.config.entry_name import literal
from assay.config.plan import Plan, make_plan
from assay.errors import ConfigError, DataError, UsageError
from assay.files.checked_fields import Written
from assay.record import SessionInfo
from assay.sinks.delivery.outbox import select_sink_data
from assay.sinks.registry import check_sink_data, check_spec, is_named, locate, own_sink_module
from assay.sinks.try_sink import SinkTrial, try_sink

if TYPE_CHECKING:
    from assay.config.entry_config import Requirement
    from assay.config.load_config import Config
    from assay.config.paths import Volume


Emptied = Mapping[int, Mapping[str, str]]


@dataclass(frozen=True)
class PlannedSinks:
    """A plan's sinks, found and checked; a user's own has been made once, in a process that is gone."""

    specs: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[tuple[int, str], ...] = ()
    """Place of the sink in the file's list, and what is wrong with it."""
    left_out: tuple[tuple[int, str], ...] = ()
    """What lacks only an unset variable, with a lenient reading."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, written: Sequence[Mapping[str, Any]], folders: Sequence[Path], emptied: Emptied) -> Self:
        """`emptied`: the keys of each sink that an unset variable left empty → the variable's name."""
        specs = {at: sink if is_named(sink) else locate(sink, folders) for at, sink in enumerate(written)}
        problems = {at: check_spec({**sink, **emptied.get(at, {})}) for at, sink in specs.items()}
        sound = [at for at in specs if not problems[at]]
        lacking = {at: why[0] for at in sound if at in emptied and (why := check_spec(specs[at]))}
        trials = {at: try_sink(specs[at]) for at in sound if at not in lacking}
        lacking |= {
            at: trial.problems[0]
            for at, trial in trials.items()
            if at in emptied and trial.problems and not _with_values(specs[at], emptied[at], trial)
        }
        trials = {at: trial for at, trial in trials.items() if at not in lacking}
        return cls(
            tuple(sink for at, sink in specs.items() if at not in lacking),
            tuple((at, why) for at in specs for why in problems[at] or (trials[at].problems if at in trials else ())),
            tuple((at, f"is left out, as {_unset(emptied[at])} not set: {why}") for at, why in lacking.items()),
            tuple(
                f"sink {specs[at].get('name') or specs[at]['class']}: {describe_used(trial.stand_ins)}"
                for at, trial in trials.items()
                if trial.stand_ins
            ),
        )


def _with_values(spec: Mapping[str, Any], emptied: Mapping[str, str], trial: SinkTrial) -> set[str]:
    """What would still be wrong with a user's own sink if the variables were set."""
    return {*trial.problems} & {*try_sink({**spec, **emptied}).problems}


def _unset(emptied: Mapping[str, str]) -> str:
    names = list(dict.fromkeys(emptied.values()))
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"


@dataclass(frozen=True)
class RunInputs:
    """What a user asked to be run. Kept in session.json, so that `--resume` and `rerun` can ask the same again."""

    config: tuple[str, ...] = ()
    matrix: str | None = None
    datasets: str | None = None
    sink: str = "none"
    set: tuple[str, ...] = ()
    entries: str | None = None
    entries_exact: tuple[str, ...] | None = None
    lenient_config: bool = False
    viewer_url: str | None = None
    viewer_url_template: str | None = None
    no_sink: tuple[str, ...] = ()
    results_dir: str | None = None
    command: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """Several, or one that more is said of: a quoted line each; `prepare` and `cleanup` are such lines too."""
    prepare: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """`name=1,2,4` each."""
    shell: str | None = None
    load: tuple[str, ...] = ()
    """Arguments of load_benchmark.py, for `assay load`."""
    runs: int = 10
    warmup: int = 0
    timeout_s: float = DEFAULT_TIMEOUT_S
    tags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> RunInputs:
        """Raises a DataError that begins with the field's name, `plan.runs is text, not a whole number`."""
        plan = Written(written, "plan")
        inputs = cls(
            config=plan.texts("config"),
            matrix=plan.text_or_none("matrix"),
            datasets=plan.text_or_none("datasets"),
            sink=plan.text("sink", cls.sink),
            set=plan.texts("set"),
            entries=plan.text_or_none("entries"),
            entries_exact=plan.texts("entries_exact") if "entries_exact" in plan else None,
            lenient_config=plan.flag("lenient_config", cls.lenient_config),
            viewer_url=plan.text_or_none("viewer_url"),
            viewer_url_template=plan.text_or_none("viewer_url_template"),
            no_sink=plan.texts("no_sink"),
            results_dir=plan.text_or_none("results_dir"),
            command=plan.texts("command"),
            commands=plan.texts("commands"),
            prepare=plan.texts("prepare"),
            cleanup=plan.texts("cleanup"),
            parameters=plan.texts("parameters"),
            shell=plan.text_or_none("shell"),
            load=plan.texts("load"),
            runs=plan.whole("runs", cls.runs),
            warmup=plan.whole("warmup", cls.warmup),
            timeout_s=plan.number("timeout_s", cls.timeout_s),
            tags=plan.texts("tags"),
        )
        if not (inputs.config or inputs.matrix or inputs.without_files):
            raise DataError("plan names neither config, matrix, command nor load: it does not say what to run")
        return inputs

    @property
    def without_files(self) -> bool:
        return bool(self.command or self.commands or self.load)

    def plan(self) -> Plan:
        plan = self._command_plan() if self.without_files else self._files_plan()
        if self.results_dir is not None:
            plan = plan.with_results_dir(Path(self.results_dir).absolute())
        if self.viewer_url is not None or self.viewer_url_template is not None:
            template = literal(self.viewer_url) if self.viewer_url is not None else self.viewer_url_template
            plan = replace(plan, viewer_url_template=template)
        return replace(plan, inputs=self.to_json(), tags=tuple(dict.fromkeys([*plan.tags, *self.tags])))

    def volumes(self) -> list[Volume]:
        """What a container must be given to run this."""
        from assay.config.paths import volumes

        return volumes(self._load(), os.environ)

    def _files_plan(self) -> Plan:
        config = self._load()
        plan = make_plan(config, os.environ, self.entries, self.entries_exact)
        sinks = PlannedSinks.of(plan.sinks, _folders(config.files), _find_emptied(config))
        where = [f"{config.root.at(('sinks', at)).mark}: sinks[{at}]" for at in range(len(plan.sinks))]
        problems = [f"{where[at]}.{problem}" for at, problem in sinks.problems] + _find_wrong_sink_data(
            config, sinks.specs
        )
        if problems:
            raise ConfigError(problems)
        warnings = (*plan.warnings, *(f"{where[at]} {why}" for at, why in sinks.left_out))
        return replace(plan, sinks=sinks.specs, notes=sinks.notes, warnings=warnings)

    def _load(self) -> Config:
        from assay.config.load_config import load_config, load_older
        from assay.config.older_form import OlderForm

        if self.matrix is not None:
            folders = _folders((Path(self.matrix),))
            form = OlderForm(
                Path(self.matrix),
                Path(self.datasets) if self.datasets else None,
                self.sink,
                is_sink=lambda name: own_sink_module(name, folders) is not None,
            )
            return load_older(form, os.environ, self.set, self.lenient_config, self.no_sink)
        return load_config(
            [Path(file) for file in self.config], os.environ, self.set, self.lenient_config, self.no_sink
        )

    def _command_plan(self) -> Plan:
        if self.load:
            made: tuple[Entry, ...] = (load_entry(self.load, self.timeout_s),)
        elif self.commands:
            made = self._command_lines().entries()
        else:
            made = (command_entry(self.command, self.timeout_s),)
        entries = tuple(replace(entry, repeat=self.runs, warmup=self.warmup) for entry in made)
        results = results_folder(self.results_dir).absolute()
        artifacts = results / "artifacts"
        return Plan(entries=entries, results_dir=results, artifacts_dir=artifacts, commands=not self.load)

    def _command_lines(self) -> CommandLines:
        return CommandLines(
            self.commands, self.timeout_s, self.shell, self.prepare, self.cleanup,
            tuple(Parameter.parse(line) for line in self.parameters),
        )  # fmt: skip


def _folders(files: Sequence[Path]) -> list[Path]:
    """Where modules of the user's own are looked for: beside the configuration, then where Assay was started."""
    return list(dict.fromkeys([*(file.absolute().parent for file in files), Path.cwd()]))


def command_entry(command: Sequence[str], timeout_s: float, name: str | None = None) -> Entry:
    """A command of the user's as an entry, named for its program or for `name`."""
    return Entry(
        name=entry_name([name or command[0]]),
        program=tuple(command[:1]),
        args=escape_braces(command[1:]),
        timeout_s=timeout_s,
        where="the command line",
    )


def load_entry(words: Sequence[str], timeout_s: float) -> Entry:
    """A load on an endpoint as an entry. Objectives must be met; of several rates the curve says which meet them."""
    script = Script.find("load_benchmark.py", str(BUNDLED), BUNDLED)
    said = {word.partition("=")[0] for word in words}
    requirements: tuple[Requirement, ...] = ()
    if "--objective" in said and not {"--sweep", "--find-peak"} & said:
        from assay.config.entry_config import Requirement

        requirements = (Requirement(metric="objectives_met", exact_value=True),)
    return Entry(
        name="load",
        program=tuple(script.argv(None)),
        args=escape_braces(words),
        timeout_s=timeout_s,
        where="the command line",
        script=script.path,
        requirements=requirements,
    )


def _find_wrong_sink_data(config: Config, sinks: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys under `sink_data:` that the sink they are for does not know."""
    found = []
    for at, entry in enumerate(config.session.entries):
        mark = config.root.at(("entries", at, "sink_data")).mark
        for sink in sinks:
            wrong = check_sink_data(sink, select_sink_data(entry.sink_data, str(sink.get("name"))))
            found += [f"{mark}: entries[{at}].sink_data: {problem}" for problem in wrong]
    return found


def _find_emptied(config: Config) -> dict[int, dict[str, str]]:
    """Keys of sinks that an unset variable left empty, by the sink's place."""
    found: dict[int, dict[str, str]] = {}
    for path, name in config.emptied:
        match path:
            case ("sinks", int(at), key):
                found.setdefault(at, {})[str(key)] = name
    return found


_MASKED = re.compile(r"\*\*\*([A-Za-z_][A-Za-z0-9_]*)\*\*\*")


def restore_inputs(info: SessionInfo, environment: Mapping[str, str]) -> RunInputs:
    """Inputs of a session with every secret as the environment has it now. Refused while one is missing: what would run
    with the masked text is not what was asked for."""
    missing: dict[str, str] = {}

    def put_back(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: put_back(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [put_back(item) for item in value]
        if not isinstance(value, str):
            return value
        for name in _MASKED.findall(value):
            if name not in environment:
                missing.setdefault(name, value)
        return _MASKED.sub(lambda found: environment.get(found[1], found[0]), value)

    inputs = put_back(info.plan)
    if missing:
        said = "; ".join(f"set {name} (in {value!r})" for name, value in missing.items())
        raise UsageError(
            f"session {info.name} was started with secrets, which are not kept on disk: give them again as environment "
            f"variables: {said}"
        )
    try:
        return RunInputs.from_json(inputs)
    except DataError as error:
        raise DataError(f"session {info.name} cannot be run again: in its session.json {error}") from None
