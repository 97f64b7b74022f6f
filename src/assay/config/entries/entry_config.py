from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from assay.config.entries.entry_name import check_entry_name
from assay.config.entries.limits import Limits
from assay.config.entries.tag import check_tag
from assay.config.model import Model, ProgramVariables
from assay.config.ray_config import ObjectStoreSize, RayConfig
from assay.config.requirement import Requirement, share
from assay.config.service.service_config import ServiceConfig

Tag = Annotated[str, AfterValidator(check_tag)]


class MetricRule(Model):
    """What cannot be told from a metric's name."""

    better: Literal["higher", "lower"] | None = None
    unit: str | None = None
    exact: bool | None = Field(
        default=None, description="Counted, not timed: any change counts, from one run. Default: as the program says."
    )
    margin: float | None = Field(default=None, gt=0, description="Smaller changes count as none: 0.05 or 5%.")

    @field_validator("margin", mode="before")
    @classmethod
    def _percent(cls, value: Any) -> Any:
        return share(value)


class EntryConfig(Model):
    """One benchmark of a session, as the files say it."""

    name: Annotated[str, Field(description="Unique; also the folder of its results.")]
    enabled: bool = True
    script: str | None = Field(
        default=None,
        description="Looked for in script_base_dir, beside this file, in scripts/, then among the bundled ones.",
    )
    script_base_dir: str | None = None
    command: str | list[str] | None = Field(
        default=None, description="Instead of a script: any program; its output files are optional."
    )
    interpreter: str | None = Field(
        default=None,
        description="For Python scripts; by default the session's, or Assay's. Ray and packages are those it has.",
    )
    args: str | list[str] = Field(
        default="", description="Split like a shell would, before values are put in; no shell runs."
    )
    timeout_s: float | None = Field(default=None, gt=0)
    grace_s: float = Field(default=5.0, ge=0, description="Between SIGTERM and SIGKILL.")
    ray: RayConfig | None = Field(default=None, description="Over the session's `ray:`; null: no cluster.")
    object_store_size: ObjectStoreSize = Field(default=None, description="Of its Ray cluster, over the session's.")
    gpu_mem_use_warning_threshold: float | None = Field(default=None, ge=0, le=1, description="Over the session's.")
    delete_scratch: bool | None = None
    requirements: list[Requirement] = []
    metrics: dict[str, MetricRule] = {}
    repeat: int = Field(default=1, ge=1, le=10_000)
    warmup: int = Field(
        default=0, ge=0, le=1_000, description="Runs before the measured ones, recorded but not counted."
    )
    retries: int = Field(default=0, ge=0, le=100, description="More attempts after a failure; each is recorded.")
    needs: list[str] = Field(default=[], description="Entries that must have passed.")
    env: ProgramVariables = {}
    service: ServiceConfig | None = Field(
        default=None, description="A server that is started before each run; over the session's; null: none."
    )
    limits: Limits = Limits()
    gpus: int | list[int] | None = Field(default=None, description="How many, or which.")
    profiler: Literal["py-spy", "cprofile", "memray"] | None = None
    sink_data: list[dict[str, Any]] | dict[str, Any] = []
    baseline: str | None = Field(
        default=None, description="Session to hold max_regression against; the last comparable one by default."
    )
    canary: bool = Field(
        default=False, description="Its code is fixed: what changes in it is the machine, and a comparison says so."
    )
    tags: list[Tag] = Field(default=[], description="What it is found by on the dashboard: words without spaces.")

    @field_validator("name")
    @classmethod
    def _safe_name(cls, value: str) -> str:
        return check_entry_name(value)

    @field_validator("sink_data")
    @classmethod
    def _for_a_sink(cls, value: list[dict[str, Any]] | dict[str, Any]) -> list[dict[str, Any]] | dict[str, Any]:
        if isinstance(value, list) and not all("name" in said for said in value):
            raise ValueError("each says the `name` of the sink that it is for")
        return value

    @field_validator("profiler", mode="before")
    @classmethod
    def _profiler_name(cls, value: Any) -> Any:
        return value.lower().replace("pyspy", "py-spy") if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_program(self) -> Self:
        if (self.script is None) == (self.command is None):
            raise ValueError("needs either `script` or `command`")
        return self
