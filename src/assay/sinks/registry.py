"""Which class a sink's name or dotted path means. Adding one needs no change here: a package registers it as an
entry point of the group `assay.sinks`, or the configuration says `class: package.module:Name`."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from assay.names import Registry, UnknownComponent, unknown
from assay.sinks.own_sink import own_sink_class
from assay.sinks.sink import Sink
from assay.sinks.spec import SinkSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "assay.sinks"
BUILT_IN: Registry[Any] = Registry(
    "sink",
    object,
    {
        "csv": "assay.sinks.files.csv_sink:CsvSink",
        "datadog": "assay.sinks.monitoring.monitoring_sink:DatadogSink",
        "gdrive": "assay.sinks.gdrive.gdrive_sink:GoogleDriveSink",
        "github_summary": "assay.sinks.files.github_summary_sink:GitHubSummarySink",
        "grafana": "assay.sinks.monitoring.monitoring_sink:GrafanaSink",
        "jsonl": "assay.sinks.files.jsonl_sink:JsonlSink",
        "junit": "assay.sinks.files.junit_sink:JUnitSink",
        "mlflow": "assay.sinks.mlflow.mlflow_sink:MlflowSink",
        "otlp": "assay.sinks.monitoring.monitoring_sink:OtlpSink",
        "prometheus": "assay.sinks.monitoring.monitoring_sink:PrometheusSink",
        "slack": "assay.sinks.slack.slack_sink:SlackSink",
        "wandb": "assay.sinks.wandb.wandb_sink:WandbSink",
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
        from assay.sinks.run_logger import RunLoggerSink

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
