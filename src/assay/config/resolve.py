from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assay.config.entry import Entry, Script, ScriptNotFound, gpu_numbers, resolve_program, split
from assay.config.entry_config import EntryConfig, RayConfig
from assay.config.load_config import Config
from assay.config.paths import SessionPaths
from assay.config.placeholders import FOLDERS, Datasets, UnknownPlaceholder, UsedDataset, Variables, render
from assay.config.service import ADDRESS, Service
from assay.config.service_config import ReadyConfig, ServiceConfig
from assay.config.session_config import SessionConfig
from assay.document.yaml_node import YamlNode

_SPILLING = {"object_spilling", "enable_object_spilling"}


def ray_of(entry: EntryConfig, session: SessionConfig) -> RayConfig | None:
    """The entry's own keys over the session's `ray:`; `ray: null` in an entry takes no cluster."""
    if "ray" in entry.model_fields_set and entry.ray is None:
        return None
    if entry.ray is None and session.ray is None:
        return None
    written = [_size(session.object_store_size), _keys(session.ray), _size(entry.object_store_size), _keys(entry.ray)]
    merged: dict[str, Any] = {}
    for keys in written:
        if _SPILLING & keys.keys():
            merged = {name: value for name, value in merged.items() if name not in _SPILLING}
        merged |= keys
    return RayConfig(**merged)


def _keys(ray: RayConfig | None) -> dict[str, Any]:
    return ray.model_dump(exclude_unset=True) if ray is not None else {}


def _size(size: int | float | str | None) -> dict[str, Any]:
    return {} if size is None else {"object_store_size": size}


_NO_ADDRESS = (
    "service: says no address: put {port} (a free port) into its `command` or `env`, or give its `url`, "
    "such as http://127.0.0.1:8000"
)


def resolve_service(
    written: ServiceConfig, words: Callable[[str | list[str], str], list[str]], later: Callable[[str], str]
) -> Service:
    """`words` splits a command and fills it in, `later` fills in a text; both leave what only a run knows.

    Raises UnknownPlaceholder, for the entry to fail with.
    """
    if written.command is None:
        raise UnknownPlaceholder("service: command is missing: what starts the server")
    command = words(written.command, "service.command")
    ready, metrics = written.ready, written.metrics
    service = Service(
        command=(*resolve_program(command[:1]), *command[1:]),
        url=later(written.url).rstrip("/"),
        env={name: later(value) for name, value in written.env.items()},
        cwd=None if written.cwd is None else os.path.expanduser(later(written.cwd)),
        ready=None if ready is None else _later_ready(ready, later),
        ready_command=tuple(words(ready.command, "service.ready.command")) if ready and ready.command else (),
        ready_timeout_s=written.ready_timeout_s,
        stop_timeout_s=written.stop_timeout_s,
        restart=written.restart,
        metrics=None if metrics is None else metrics.model_copy(update={"path": later(metrics.path)}),
        limits=written.limits.resolve(),
        gpus=gpu_numbers(written.gpus),
    )
    if "url" not in written.model_fields_set and not _mentions_port(service):
        raise UnknownPlaceholder(_NO_ADDRESS)
    return service


def _later_ready(ready: ReadyConfig, later: Callable[[str], str]) -> ReadyConfig:
    http = None if ready.http is None else later(ready.http)
    tcp = None if ready.tcp is None else later(str(ready.tcp))
    return ready.model_copy(update={"http": http, "tcp": tcp})


def _mentions_port(service: Service) -> bool:
    return any("{port}" in word for word in (*service.command, *service.env.values()))


class Resolver:
    """Entries as the files say them → entries of a plan. `problems` are of the files, not of one entry."""

    def __init__(self, config: Config, environment: Mapping[str, str], paths: SessionPaths) -> None:
        self._config = config
        self._variables = Variables(environment, config.lenient)
        self._datasets = Datasets(
            {data.name: {form.type: form.path for form in data.formats} for data in config.session.datasets}
        )
        self._values = paths.values
        self._later_names: tuple[str, ...] = FOLDERS
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.interpreter = self._python(config.session.interpreter)

    def entry(self, key: str, at: int) -> Entry:
        written: EntryConfig = getattr(self._config.session, key)[at]
        node = self._config.root.at((key, at))
        where = f"{node.mark.file}:{node.mark.line}"
        problem = ""
        program: list[str] = []
        script: Path | None = None
        interpreter: str | None = None
        args: list[str] = []
        service: Service | None = None
        datasets: list[UsedDataset] = []
        self._later_names = (*FOLDERS, *ADDRESS) if written.service is not None else FOLDERS
        env: dict[str, str] = {}
        try:
            if written.service is not None:
                service = resolve_service(
                    written.service,
                    lambda words, path: self._words(words, node, f"{key}[{at}].{path}", datasets),
                    self._later,
                )
            env = {name: self._later(value) for name, value in written.env.items()}
            args = self._words(written.args, node, f"{key}[{at}].args", datasets)
            if written.command is not None:
                command = self._words(written.command, node, f"{key}[{at}].command", datasets)
                program, args = resolve_program(command[:1]), [*command[1:], *args]
            else:
                asked = render(str(written.script), self._values, _Noting(self._datasets, None, self._values))
                found = Script.find(asked, self._base(written), self._folder_of(node), key == "data_setups")
                named = self._python(written.interpreter) or (None if found.is_bundled else self.interpreter)
                script, program = found.path, found.argv(named)
                interpreter = named if found.path.suffix == ".py" else None
        except (UnknownPlaceholder, ScriptNotFound) as error:
            problem = str(error)
        for told, heard in ((self._variables.problems, self.problems), (self._variables.warnings, self.warnings)):
            heard += told
            told.clear()
        session = self._config.session
        ray = ray_of(written, session) if key == "entries" else written.ray
        if ray is None and written.object_store_size is not None:
            self.warnings.append(f"{written.name}: object_store_size is of a Ray cluster, and it has none: add `ray:`")
        if service is not None and ray is not None and ray.isolation == "namespace":
            problem = problem or "a service cannot be reached from a Ray cluster with `isolation: namespace`"
        wanted = written.timeout_s or session.default_timeout_s
        limit = _least(wanted, session.max_timeout_s) if key == "entries" else wanted
        return Entry(
            name=written.name,
            program=tuple(program),
            args=tuple(args),
            timeout_s=limit,
            wanted_timeout_s=wanted if wanted > limit else None,
            job_timeout_s=_job_timeout_s(written, limit, session),
            where=where,
            script=script if written.command is None else None,
            interpreter=interpreter,
            problem=problem,
            grace_s=_least(written.grace_s, session.cleanup_timeout_s),
            ray=ray,
            service=service,
            delete_scratch=session.delete_scratch if written.delete_scratch is None else written.delete_scratch,
            requirements=tuple(written.requirements),
            metrics={**session.metrics, **written.metrics},
            repeat=written.repeat,
            warmup=written.warmup,
            retries=written.retries,
            needs=tuple(written.needs),
            env=env,
            limits=written.limits.resolve(),
            gpus=gpu_numbers(written.gpus),
            gpu_mem_use_warning_threshold=_first(
                written.gpu_mem_use_warning_threshold, session.gpu_mem_use_warning_threshold
            ),
            profiler=written.profiler,
            sink_data=_by_sink(written.sink_data),
            baseline=written.baseline or session.baseline,
            canary=written.canary,
            workload_version=None if written.workload_version is None else str(written.workload_version),
            project=session.project,
            tags=tuple(dict.fromkeys(written.tags)),
            is_setup=key == "data_setups",
            datasets_used=tuple(datasets),
        )

    def _words(self, written: str | list[str], node: YamlNode, path: str, datasets: list[UsedDataset]) -> list[str]:
        """Split first, so that a value with a space in it stays one argument."""
        mark = node.at(tuple(path.split(".")[1:])).mark
        try:
            words = split(written)
        except ValueError as error:
            self.problems.append(f"{mark}: {path}: {str(error).lower()}")
            return []
        filled = [self._variables.text(word, f"{mark}: {path}") for word in words]
        return [self._later(word, datasets) for word in filled]

    def _later(self, text: str, used: list[UsedDataset] | None = None) -> str:
        return render(text, self._values, _Noting(self._datasets, used, self._values), later=self._later_names)

    def _python(self, written: str | None) -> str | None:
        if written is None:
            return None
        try:
            return os.path.expanduser(self._later(written))
        except UnknownPlaceholder as error:
            self.problems.append(f"interpreter: {error}")
            return None

    def _base(self, written: EntryConfig) -> str | None:
        return None if written.script_base_dir is None else self._later(written.script_base_dir)

    def _folder_of(self, node: YamlNode) -> Path:
        said = (node.get("script") or node).mark.file
        return Path(said).absolute().parent if Path(said).is_file() else Path.cwd()


class _Noting(Datasets):
    """Puts named paths into those of data sets, and remembers which were asked for."""

    def __init__(self, datasets: Datasets, used: list[UsedDataset] | None, values: Mapping[str, str]) -> None:
        super().__init__(datasets.paths)
        self._used = used
        self._values = values

    def path(self, argument: str) -> str:
        found = render(super().path(argument), self._values, Datasets({}), later=FOLDERS)
        if self._used is not None:
            self._used.append(UsedDataset(argument, found))
        return found


def _by_sink(written: list[dict[str, Any]] | dict[str, Any]) -> dict[str, Any]:
    """`[{name: slack, …}]` and `{slack: {…}}` say the same."""
    if isinstance(written, dict):
        return written
    return {str(item["name"]): {key: value for key, value in item.items() if key != "name"} for item in written}


def _job_timeout_s(entry: EntryConfig, limit: float, session: SessionConfig) -> float:
    """Every run of the entry and its service at their limits and cleared up after; at least `min_timeout_s`."""
    runs = (entry.warmup + entry.repeat) * (1 + entry.retries)
    service = entry.service
    around = 0.0 if service is None else service.ready_timeout_s + service.stop_timeout_s
    return max(runs * (around + limit + (session.cleanup_timeout_s or 0.0)), session.min_timeout_s or 0.0)


def _least(seconds: float, most: float | None) -> float:
    return seconds if most is None else min(seconds, most)


def _first(one: float | None, other: float | None) -> float | None:
    return other if one is None else one
