"""Which class a sink's name or dotted path means. Adding one needs no change here: a package registers it as an
entry point of the group `assay.sinks`, or the configuration says `class: package.module:Name`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from assay.compat.stand_ins import install
from assay.names import Registry, UnknownComponent, load, load_module, look_in, quote, unknown
from assay.sinks.sink import BESIDE, COMMON_KEYS, Sink, SinkSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Sinks that a user keeps in a module beside the configuration.

FOLDERS = ("", "sinks", "runner/sinks")
"""Where a sink that is known by its name alone is looked for, below each folder."""
_HOOKS = ("process_result", "start_run")
"""A class with one of these is a sink, of the newer form or of the older."""


def locate(written: Mapping[str, Any], folders: Sequence[Path]) -> Mapping[str, Any]:
    """What the configuration says of a user's own sink, with where its class is looked for; a name without `class:`
    is that of a module."""
    own = str(written.get("class") or own_sink_module(str(written.get("name")), folders) or "")
    return {**written, "class": own, BESIDE: [str(folder) for folder in folders]} if own else written


def own_sink_module(name: str, folders: Sequence[Path]) -> str | None:
    """`my_custom` → `runner.sinks.my_custom_sink`, where there is such a file."""
    if not name.isidentifier():
        return None
    for folder in folders:
        for below in FOLDERS:
            for stem in (f"{name}_sink", *([name] if below else [])):
                if (folder / below / f"{stem}.py").is_file():
                    return ".".join((*Path(below).parts, stem))
    return None


def own_sink_class(path: str, beside: Sequence[str]) -> type[Any]:
    """Class at a dotted path, which names it or a module with one sink. For a process that is the sink's alone: its
    folders stay on the import path and the stand-ins in place, since a hook may import as well."""
    look_in(*reversed(beside))
    install()
    found = load(path)
    if found is None or isinstance(found, ModuleType):
        module = load_module(path, path)
        if module is None:
            places = f" below {', '.join(beside)}, nor installed" if beside else ""
            raise UnknownComponent(f"nothing is at {quote(path)}{places}")
        found = _only_sink(module)
    if not isinstance(found, type):
        raise UnknownComponent(f"{quote(path)} is no sink: it is not a class")
    return found


def _only_sink(module: ModuleType) -> type[Any]:
    sinks = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__ == module.__name__
        and any(callable(getattr(value, hook, None)) for hook in _HOOKS)
    ]
    if len(sinks) == 1:
        return sinks[0]
    name = module.__name__
    if not sinks:
        raise UnknownComponent(f"{name} has no sink: no class with a method {' or '.join(_HOOKS)}")
    raise UnknownComponent(
        f"{name} has {len(sinks)} sinks; say which: {', '.join(f'class: {name}:{sink.__name__}' for sink in sinks)}"
    )


GROUP = "assay.sinks"
BUILT_IN: Registry[Any] = Registry(
    "sink",
    object,
    {
        "csv": "assay.sinks.file_sinks:CsvSink",
        "datadog": "assay.sinks.monitoring.monitoring_sink:DatadogSink",
        "gdrive": "assay.sinks.gdrive_sink:GoogleDriveSink",
        "github_summary": "assay.sinks.file_sinks:GitHubSummarySink",
        "grafana": "assay.sinks.monitoring.monitoring_sink:GrafanaSink",
        "jsonl": "assay.sinks.file_sinks:JsonlSink",
        "junit": "assay.sinks.file_sinks:JUnitSink",
        "mlflow": "assay.sinks.mlflow_sink:MlflowSink",
        "otlp": "assay.sinks.monitoring.monitoring_sink:OtlpSink",
        "prometheus": "assay.sinks.monitoring.monitoring_sink:PrometheusSink",
        "slack": "assay.sinks.slack_sink:SlackSink",
        "wandb": "assay.sinks.wandb_sink:WandbSink",
    },
)


def sink_class(spec: SinkSpec) -> type[Any]:
    """Imports it. Raises whatever the import raises: a sink that does not load must not stop a session."""
    wanted = spec.class_path or spec.name
    if wanted in BUILT_IN:
        return BUILT_IN.find(wanted)
    for point in list_registered():
        if point.name == wanted:
            return _a_class(point.load(), wanted)
    if spec.class_path:
        return own_sink_class(spec.class_path, spec.beside)
    raise UnknownComponent(unknown("sink", wanted, [*BUILT_IN, *(point.name for point in list_registered())]))


def is_named(written: Mapping[str, Any]) -> bool:
    """Whether the name alone says which: built in, or registered by an installed package."""
    wanted = str(written.get("class") or written.get("name"))
    return wanted in BUILT_IN or any(point.name == wanted for point in list_registered())


def find_built_in_class(spec: SinkSpec) -> type[Sink] | None:
    wanted = spec.class_path or spec.name
    return BUILT_IN.find(wanted) if wanted in BUILT_IN else None


def make_sink(spec: SinkSpec) -> Any:
    found = sink_class(spec)
    config = {"name": spec.name, "enabled": True, **spec.own}
    made = found(config=config) if takes_config(found) else found(**spec.own)
    if not hasattr(made, "process_result") and hasattr(made, "start_run"):
        from assay.sinks.sink import RunLoggerSink

        return RunLoggerSink(made)
    return made


def list_registered() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points  # a fifth of what `assay run` imports for its sinks

    return tuple(entry_points(group=GROUP))


def takes_config(found: type[Any]) -> bool:
    try:
        parameter = signature(found).parameters.get("config")
    except (TypeError, ValueError):
        return False
    return parameter is not None and parameter.kind is not Parameter.VAR_KEYWORD


def _a_class(found: Any, path: str) -> type[Any]:
    if not isinstance(found, type):
        raise TypeError(f"{path} is not a class")
    return found


_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(:[A-Za-z_]\w*)?")


def check_spec(written: Mapping[str, Any]) -> list[str]:
    """Problems that keep a plan from beginning, in words without the sink's place in the file. None for a disabled
    sink. Of a user's own sink only the name or path is looked at: `try_sink` makes one, which checks its keys."""
    if written.get("enabled", True) is False:
        return []
    if not isinstance(written.get("enabled", True), bool):
        return ["enabled: must be true or false"]
    timeout = written.get("delivery_timeout_s")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0):
        return ["delivery_timeout_s: must be a number of seconds above 0"]
    spec = SinkSpec.parse(written)
    known = find_built_in_class(spec)
    if known is None:
        return _own_sink(spec)
    keys = {key.name: key for key in (*COMMON_KEYS, *known.keys)}
    of = f"sink {quote(spec.name)}"
    problems = [f"{key}: {unknown('key', key, sorted(keys), of)}" for key in written if key not in keys]
    problems += [
        f"{key.name}: sink {spec.name} needs it ({key.help})"
        for key in known.keys
        if key.required and written.get(key.name) in (None, "")
    ]
    return problems or known.problems(dict(spec.own))


def check_sink_data(written: Mapping[str, Any], said: Mapping[str, Any]) -> list[str]:
    """What is wrong with what an entry says to a sink."""
    spec = SinkSpec.parse(written)
    known = find_built_in_class(spec)
    if known is None or known.entry_keys is None:
        return []
    of = f"sink_data of sink {quote(spec.name)}"
    return [unknown("key", key, known.entry_keys, of) for key in said if key not in known.entry_keys]


def _own_sink(spec: SinkSpec) -> list[str]:
    names = [*BUILT_IN, *(point.name for point in list_registered())]
    if spec.class_path is not None:
        if spec.class_path in names or _DOTTED.fullmatch(spec.class_path):
            return []
        return [f"class: {spec.class_path!r} is not a dotted path such as my_package.sinks:MySink"]
    if spec.name in names:
        return []
    beside = f"one of your own is a module beside the configuration ({spec.name}_sink.py) or has `class:`"
    return [f"name: {unknown('sink', spec.name, sorted(names))}; {beside}"]
