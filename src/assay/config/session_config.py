from __future__ import annotations

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from assay.config import DEFAULT_TIMEOUT_S
from assay.config.base_model import Model
from assay.config.entry_config import EntryConfig, MetricConfig, ObjectStoreSize, RayConfig, Tag
from assay.config.entry_name import GPU_STATS_INTERVAL_S, check_template
from assay.config.paths import PathsConfig
from assay.config.service_config import ServiceConfig


class DatasetFormat(Model):
    """One copy of a data set, in one format."""

    type: str = Field(description="Format that `{dataset:name,format}` asks for.", examples=["parquet"])
    path: str = Field(
        description="File, folder or address. A local one must be there when an entry that names it starts.",
        examples=["/data/cc.parquet"],
    )


class DatasetConfig(Model):
    """Data under a name, so that entries do not repeat paths."""

    name: str = Field(description="Name that `{dataset:name,format}` asks for.", examples=["cc"])
    enabled: bool = Field(
        default=True, description="`false`: as if it were not written; an entry that names it fails.", examples=[False]
    )
    formats: list[DatasetFormat] = Field(
        min_length=1,
        description="Where the data is, once for each format.",
        examples=[[{"type": "parquet", "path": "/data/cc.parquet"}]],
    )


class GpuStatsRecorder(Model):
    """How often the state of the GPUs is written down while a run goes on."""

    interval_s: float = Field(
        default=GPU_STATS_INTERVAL_S,
        ge=0,
        description="Seconds between two rows of a GPU; 0: none are written.",
        examples=[0.5],
    )


class SessionConfig(Model):
    """Everything the files of a session say."""

    project: str = Field(
        default="",
        max_length=100,
        description="Entries of different projects are never compared, even if they have the same name.",
        examples=["search"],
    )
    results_dir: str = Field(
        default="results",
        description="Folder of all sessions, relative to the working folder.",
        examples=["/raid/results"],
    )
    artifacts_dir: str | None = Field(
        default=None,
        description="Folder for what is large (scratch, Ray logs); results_dir/artifacts by default.",
        examples=["/big/disk/artifacts"],
    )
    results_path: str | None = Field(
        default=None,
        description="One of the names under `paths:`, or a path: another way to say results_dir.",
        examples=["results_path"],
    )
    datasets_path: str | None = Field(
        default=None,
        description="Value of the placeholder {datasets_path}; better said in `paths:`.",
        examples=["/raid/datasets"],
    )
    model_weights_path: str | None = Field(
        default=None,
        description="Value of the placeholder {model_weights_path}; better said in `paths:`.",
        examples=["/raid/models"],
    )
    default_timeout_s: float = Field(
        default=DEFAULT_TIMEOUT_S,
        gt=0,
        description="Seconds a run may take where its entry has no timeout_s.",
        examples=[1800],
    )
    max_timeout_s: float | None = Field(
        default=None, gt=0, description="Seconds that no run exceeds, whatever its entry asks for.", examples=[3600]
    )
    cleanup_timeout_s: float | None = Field(
        default=None,
        ge=0,
        description="Seconds between a run's limit and its end at most; part of a job's limit.",
        examples=[30],
    )
    min_timeout_s: float | None = Field(
        default=None,
        ge=0,
        description="Least limit, in seconds, of a job that runs one entry (`assay plan --jobs`).",
        examples=[600],
    )
    delete_scratch: bool = Field(
        default=True, description="Whether {scratch_dir} is deleted after each run.", examples=[False]
    )
    sinks: list[dict[str, Any]] = Field(
        default=[],
        description="Systems that are told of results: each has a `name` (or `class`) and keys of its own.",
        examples=[[{"name": "csv", "path": "/raid/metrics.csv"}]],
    )
    datasets: list[DatasetConfig] = Field(
        default=[],
        description="Data that arguments name as {dataset:name,format}.",
        examples=[[{"name": "cc", "formats": [{"type": "parquet", "path": "/data/cc.parquet"}]}]],
    )
    paths: PathsConfig = Field(
        default={},
        description="Each becomes a placeholder: {name}. In a list, each has a place on the host and in a container.",
        examples=[{"models": "/data/models"}],
    )
    ray: RayConfig | None = Field(
        default=None,
        description="A Ray cluster for every entry; its own `ray:` changes single keys, and `ray: null` has none.",
        examples=[{"num_cpus": 8}],
    )
    service: ServiceConfig | None = Field(
        default=None,
        description="A server for every entry; its own `service:` changes single keys, and `service: null` has none.",
        examples=[{"command": "vllm serve {models}/llama --port {port}"}],
    )
    object_store_size: ObjectStoreSize = Field(
        default=None,
        description="Object store of every entry's Ray cluster: bytes, a fraction of memory, or `default`.",
        examples=[0.5],
    )
    gpu_stats_recorder: GpuStatsRecorder | None = Field(
        default=None,
        description="Rows of every GPU in gpustats.csv while an entry runs; every second by default.",
        examples=[{"interval_s": 0.5}],
    )
    gpu_mem_use_warning_threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of a GPU's memory in use before or after a run that is warned of.",
        examples=[0.01],
    )
    viewer_url: str | None = Field(
        default=None,
        description="Address where the session can be looked at; printed, kept and sent to Slack.",
        examples=["https://bench.example.org/nightly"],
    )
    viewer_url_template: str | None = Field(
        default=None,
        description="The same with {results_path}, {session_name}, {session_path}, each also as {…_url}.",
        examples=["https://bench.example.org/{session_name_url}"],
    )
    data_setups: list[EntryConfig] = Field(
        default=[],
        description="Entries that prepare data; they run first and need write no results.",
        examples=[[{"name": "fetch", "script": "fetch.py"}]],
    )
    entries: list[EntryConfig] = Field(
        default=[],
        description="The benchmarks, in the order they run.",
        examples=[[{"name": "sort", "script": "sort.py", "repeat": 6}]],
    )
    baseline: str | None = Field(
        default=None,
        description="Session, folder or git revision that results are held against; the last comparable by default.",
        examples=["release-1.4"],
    )
    metrics: dict[str, MetricConfig] = Field(
        default={},
        description="Direction, unit and margin of metrics, for all entries.",
        examples=[{"quality": {"better": "higher", "margin": "2%"}}],
    )
    interpreter: str | None = Field(
        default=None,
        description="Python of all scripts that name none; bundled ones go on with Assay's.",
        examples=["/opt/curator/bin/python"],
    )
    reserve_disk_mb: float = Field(
        default=512.0, ge=0, description="Megabytes: less free space than this is warned of.", examples=[2048]
    )
    tags: list[Tag] = Field(
        default=[],
        description="What the session is found by on the dashboard; `assay run --tag` adds to them.",
        examples=[["release", "gpu"]],
    )

    @field_validator("viewer_url_template")
    @classmethod
    def _template(cls, template: str | None) -> str | None:
        return None if template is None else check_template(template)

    @model_validator(mode="after")
    def _said_once(self) -> Self:
        for one, other in (("results_dir", "results_path"), ("viewer_url", "viewer_url_template")):
            if {one, other} <= self.model_fields_set:
                raise ValueError(f"{one} and {other} say the same: give one")
        return self

    @field_validator("sinks")
    @classmethod
    def _named(cls, sinks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for index, sink in enumerate(sinks):
            if not ("name" in sink or "class" in sink):
                raise ValueError(f"sink number {index + 1} has neither `name` nor `class`")
        return sinks


_MATRIX = {
    "type": "object",
    "description": "A grid that expands to one entry a combination; {key} stands for its value anywhere in the entry.",
    "examples": [{"executor": ["local", "ray_data"], "workers": [1, 4]}],
    "properties": {"exclude": {"type": "array", "items": {"type": "object"}}},
    "additionalProperties": {"type": "array", "minItems": 1},
}

_SAID = ("description", "default", "examples", "title")
"""What a schema says of a key, whatever its type."""


def session_schema() -> dict[str, Any]:
    """JSON Schema of a session YAML, before variables are put in: any value may also be a string with `${VAR}`."""
    schema = SessionConfig.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Assay session"
    schema["$defs"]["EntryConfig"]["properties"]["matrix"] = _MATRIX
    for definition in (schema, *schema["$defs"].values()):
        if definition.get("type") == "object" and "properties" in definition:
            definition["patternProperties"] = {"^x-": {}}
            _allow_variables(definition["properties"])
    return schema


def _allow_variables(properties: dict[str, Any]) -> None:
    variable = {"type": "string", "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*(:[-+][^}]*)?\}"}
    for name, definition in properties.items():
        if definition.get("type") in ("number", "integer", "boolean"):
            described = {key: definition.pop(key) for key in _SAID if key in definition}
            properties[name] = {**described, "anyOf": [definition, variable]}
