from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from tools.site.reference.markdown import code, page, prose, table
from tools.site.reference.model_keys import keys, models

TITLES = {
    "SessionConfig": "The top of a file",
    "EntryConfig": "An entry",
    "Requirement": "A requirement",
    "MetricConfig": "A metric",
    "DatasetConfig": "A data set",
    "DatasetFormat": "A format of a data set",
    "NamedPath": "A path with two places",
    "RayConfig": "A Ray cluster",
    "ServiceConfig": "A service",
    "ReadyConfig": "When a service is ready",
    "ServiceMetricsConfig": "A service's metrics page",
    "Limits": "Limits",
    "GpuStatsRecorder": "Rows of GPUs",
    "ColocationConfig": "The top of a file",
    "PipelineConfig": "A pipeline",
    "LoadgenConfig": "Its load",
    "WarmupConfig": "Its warm-up",
    "StageConfig": "A stage",
    "ObjectiveConfig": "An objective",
    "LimitsConfig": "Limits",
    "PolicyConfig": "A policy",
    "Profile": "A profile",
}
OF_SESSIONS = "Every key of the files that `assay run --config` reads. `assay schema` prints the same for editors."


def yaml_page() -> str:
    from assay.config.session_config import SessionConfig

    parts = list(_sections(SessionConfig))
    parts.insert(_after("EntryConfig", parts), _matrix())
    return page("Session YAML", OF_SESSIONS, [*parts, *_sinks()])


def colocation_page() -> str:
    from assay.loadgen.colocation.colocation_config import ColocationConfig

    summary = "Every key of the files that `assay colocate` reads; [the guide](../colocation.md) shows a whole one."
    return page("Colocation YAML", summary, _sections(ColocationConfig))


def profile_page() -> str:
    from assay.benchmarks.weights.profile import Profile

    summary = "Every key of a file for `assay weights bench --profile FILE` ([suites](../weight-suites.md))."
    return page("Weight profiles", summary, _sections(Profile))


def _sections(top: type[BaseModel]) -> Iterator[str]:
    for model in models(top):
        first, _, _ = (model.__doc__ or "").strip().partition("\n\n")
        yield _title(model.__name__)
        if first and not first.startswith("!!!"):
            yield prose(first)
        found = keys(model)
        shown = any(key.example for key in found)
        head = ["key", "type", "default", "what it is", *(["example"] if shown else [])]
        rows = [
            [code(key.name), key.type, key.default, prose(key.description), *([code(key.example)] if shown else [])]
            for key in found
        ]
        yield table(head, rows)


def _after(name: str, parts: list[str]) -> int:
    return parts.index(_title(name)) + 3


def _title(name: str) -> str:
    return f"## {TITLES[name]} {{ #{name.lower()} }}"


def _matrix() -> str:
    from assay.config.session_config import session_schema

    matrix = session_schema()["$defs"]["EntryConfig"]["properties"]["matrix"]
    described = prose(matrix["description"])
    example = "matrix: {executor: [local, ray_data], workers: [1, 4], exclude: [{executor: ray_data, workers: 1}]}"
    said = f"An entry may also have `matrix`. {described} `exclude` in it lists combinations that are left out."
    return f"{said}\n\n```yaml\n{example}\n```"


def _sinks() -> Iterator[str]:
    from assay.sinks.registry import BUILT_IN
    from assay.sinks.sink import COMMON_KEYS

    yield "## Sinks"
    yield "Each item of `sinks:` has these keys, and those of its own; [the guide](../sinks.md) says what each does."
    yield table(["key", "what it is"], [[code(key.name), prose(key.help)] for key in COMMON_KEYS])
    for name in BUILT_IN:
        kind = BUILT_IN.find(name)
        yield f"### {name}"
        yield prose(kind.summary[0].upper() + kind.summary[1:] + ".")
        rows = [[code(key.name), "required" if key.required else "", prose(key.help)] for key in kind.keys]
        yield table(["key", "", "what it is"], rows)
