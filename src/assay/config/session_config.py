from __future__ import annotations

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from assay.config.entries.entry_config import EntryConfig, MetricRule, Tag
from assay.config.entries.gpu_stats import GPU_STATS_INTERVAL_S
from assay.config.model import Model
from assay.config.paths.named_path import PathsConfig
from assay.config.ray_config import ObjectStoreSize, RayConfig
from assay.config.service.service_config import ServiceConfig
from assay.config.viewer_url import check_template


class DatasetFormat(Model):
    type: str
    path: str


class DatasetConfig(Model):
    name: str
    enabled: bool = True
    formats: list[DatasetFormat] = Field(min_length=1)


class GpuStatsRecorder(Model):
    interval_s: float = Field(
        default=GPU_STATS_INTERVAL_S, ge=0, description="Between two rows of a GPU; 0: none are written."
    )


class SessionConfig(Model):
    """Everything the files of a session say."""

    results_dir: str = Field(default="results", description="Relative to the working folder.")
    artifacts_dir: str | None = Field(default=None, description="For what is large; results_dir/artifacts by default.")
    results_path: str | None = Field(
        default=None, description="One of the names under `paths:`, or a path: another way to say results_dir."
    )
    datasets_path: str | None = Field(default=None, description="The placeholder's; better in `paths:`.")
    model_weights_path: str | None = Field(default=None, description="The placeholder's; better in `paths:`.")
    default_timeout_s: float = Field(default=7200.0, gt=0)
    max_timeout_s: float | None = Field(default=None, gt=0, description="No entry runs longer, whatever it asks for.")
    cleanup_timeout_s: float | None = Field(
        default=None, ge=0, description="Between a run's limit and its end at most; part of a job's limit."
    )
    min_timeout_s: float | None = Field(
        default=None, ge=0, description="Least limit of a job that runs one entry (`assay plan --jobs`)."
    )
    delete_scratch: bool = True
    sinks: list[dict[str, Any]] = []
    datasets: list[DatasetConfig] = []
    paths: PathsConfig = Field(default={}, description="Each becomes a placeholder: {name}.")
    ray: RayConfig | None = Field(
        default=None,
        description="A Ray cluster for every entry; its own `ray:` changes single keys, and `ray: null` has none.",
    )
    service: ServiceConfig | None = Field(
        default=None,
        description="A server for every entry; its own `service:` changes single keys, and `service: null` has none.",
    )
    object_store_size: ObjectStoreSize = Field(
        default=None, description="Of every entry's Ray cluster: bytes, a fraction of memory (0.5), or `default`."
    )
    gpu_stats_recorder: GpuStatsRecorder | None = Field(
        default=None, description="Rows of every GPU in gpustats.csv while an entry runs; every second by default."
    )
    gpu_mem_use_warning_threshold: float | None = Field(
        default=None, ge=0, le=1, description="Share of a GPU's memory in use before or after a run that is warned of."
    )
    viewer_url: str | None = Field(default=None, description="Address where the session can be looked at.")
    viewer_url_template: str | None = Field(
        default=None, description="The same with {results_path}, {session_name}, {session_path}, each also as {…_url}."
    )
    data_setups: list[EntryConfig] = Field(default=[], description="Entries that prepare data; they run first.")
    entries: list[EntryConfig] = []
    baseline: str | None = Field(default=None, description="Session or folder that results are held against.")
    metrics: dict[str, MetricRule] = Field(
        default={}, description="Direction, unit and margin of metrics, for all entries."
    )
    interpreter: str | None = Field(
        default=None, description="Python of all scripts that name none; bundled ones go on with Assay's."
    )
    tags: list[Tag] = Field(
        default=[], description="What the session is found by on the dashboard; `assay run --tag` adds to them."
    )
    reserve_disk_mb: float = Field(default=512.0, ge=0, description="Less free space than this is said before the run.")

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
