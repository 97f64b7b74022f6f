from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from assay.config.entry_config import EntryConfig, MetricRule, Model
from assay.config.ray_config import RayConfig


class DatasetFormat(Model):
    type: str
    path: str


class DatasetConfig(Model):
    name: str
    enabled: bool = True
    formats: list[DatasetFormat] = Field(min_length=1)


class SessionConfig(Model):
    """Everything the files of a session say."""

    results_dir: str = Field(default="results", description="Relative to the working folder.")
    artifacts_dir: str | None = Field(default=None, description="For what is large; results_dir/artifacts by default.")
    default_timeout_s: float = Field(default=7200.0, gt=0)
    delete_scratch: bool = True
    ray: RayConfig | None = Field(
        default=None,
        description="A Ray cluster for every entry; its own `ray:` changes single keys, and `ray: null` has none.",
    )
    sinks: list[dict[str, Any]] = []
    datasets: list[DatasetConfig] = []
    paths: dict[str, str] = Field(default={}, description="Each becomes a placeholder: {name}.")
    data_setups: list[EntryConfig] = Field(default=[], description="Entries that prepare data; they run first.")
    entries: list[EntryConfig] = []
    baseline: str | None = Field(default=None, description="Session or folder that results are held against.")
    metrics: dict[str, MetricRule] = Field(
        default={}, description="Direction, unit and margin of metrics, for all entries."
    )
    interpreter: str | None = Field(
        default=None, description="Python of all scripts that name none; bundled ones go on with Assay's."
    )
    reserve_disk_mb: float = Field(default=512.0, ge=0, description="Less free space than this is said before the run.")

    @field_validator("sinks")
    @classmethod
    def _named(cls, sinks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for index, sink in enumerate(sinks):
            if not ("name" in sink or "class" in sink):
                raise ValueError(f"sink number {index + 1} has neither `name` nor `class`")
        return sinks
