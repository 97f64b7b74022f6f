from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from assay.config import DEFAULT_GRACE_S
from assay.config.base_model import Limits, Model, ProgramVariables
from assay.config.entry_name import check_entry_name, check_tag
from assay.config.service_config import ServiceConfig


def object_store_size(value: Any) -> Any:
    """Bytes as an integer, a fraction of memory as a float from 0 to 1, or `default`."""
    if value is None or value == "default":
        return value
    try:
        number = float(value) if not isinstance(value, bool) else 0.0
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number < float("inf") or (number > 1 and number != int(number)):
        raise ValueError(f"is bytes, a fraction of memory such as 0.5, or `default`, not {value!r}")
    fraction = number < 1 or isinstance(value, float) or (isinstance(value, str) and "." in value)
    return number if number <= 1 and fraction else int(number)


ObjectStoreSize = Annotated[int | float | Literal["default"] | None, BeforeValidator(object_store_size)]


class RayConfig(BaseModel):
    """A Ray cluster of the entry's own, or with `address` one that is there already."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    num_cpus: int | None = Field(
        default=None, ge=0, description="Processors that the cluster offers; all by default.", examples=[8]
    )
    num_gpus: int | None = Field(
        default=None, ge=0, description="GPUs that the cluster offers; those there are by default.", examples=[1]
    )
    object_spilling: bool | None = Field(
        default=None,
        description="Whether objects go to disk when the store is full; true by default.",
        examples=[False],
    )
    enable_object_spilling: bool | None = Field(
        default=None, description="The older name of object_spilling.", examples=[False]
    )
    object_store_size: ObjectStoreSize = Field(
        default=None,
        description="Size of the object store: bytes, a fraction of memory (0.5), or `default`: Ray's own.",
        examples=[2_000_000_000],
    )
    address: str | None = Field(
        default=None, description="Use this cluster; none is started.", examples=["10.0.0.5:6379"]
    )
    isolation: Literal["ports", "namespace"] = Field(
        default="ports",
        description="`namespace` (root): entry and cluster see only each other and the loopback.",
        examples=["namespace"],
    )
    start_timeout_s: float = Field(
        default=90.0, gt=0, description="Seconds the cluster may take to start.", examples=[180]
    )

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if self.object_spilling is not None and self.enable_object_spilling is not None:
            raise ValueError("object_spilling and enable_object_spilling are two names of one thing: give one")
        return self

    @property
    def spills(self) -> bool:
        """Whether Ray spills to disk, which it does unless told not to."""
        given = self.object_spilling if self.object_spilling is not None else self.enable_object_spilling
        return True if given is None else given


class Requirement(BaseModel):
    """A bound that a metric must keep for the entry to pass."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: str = Field(
        description="Name in metrics.json, or `exec_time_s`, or `usage.peak_rss_mb` and the like.",
        examples=["rows_per_s"],
    )
    exact_value: Any = Field(default=None, description="Must be equal; `1` is not `true`.", examples=[True])
    min_value: float | None = Field(default=None, description="Must be at least this.", examples=[1000])
    max_value: float | None = Field(default=None, description="Must be at most this.", examples=[3000])
    max_regression: float | None = Field(
        default=None,
        ge=0,
        description="Share by which the session may be worse than the recent level, or than `baseline`: 5%.",
        examples=["5%"],
    )

    @field_validator("max_regression", mode="before")
    @classmethod
    def _percent(cls, value: Any) -> Any:
        return share(value)

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        bounds = {"exact_value", "min_value", "max_value", "max_regression"}
        if not bounds & self.model_fields_set:
            raise ValueError("needs one of exact_value, min_value, max_value, max_regression")
        if self.min_value is not None and self.max_value is not None and self.max_value < self.min_value:
            raise ValueError(f"no value is at least {self.min_value:g} and at most {self.max_value:g}")
        return self


def share(value: Any) -> Any:
    """`5%` as 0.05; anything else as it is."""
    if isinstance(value, str) and value.strip().endswith("%"):
        return float(value.strip()[:-1]) / 100
    return value


Tag = Annotated[str, AfterValidator(check_tag)]


class MetricConfig(Model):
    """What cannot be told from a metric's name."""

    better: Literal["higher", "lower"] | None = Field(
        default=None,
        description="Which direction is good; otherwise as the program or the name says.",
        examples=["higher"],
    )
    unit: str | None = Field(default=None, description="Unit shown behind the value.", examples=["rows/s"])
    exact: bool | None = Field(
        default=None,
        description="Counted, not timed: any change counts, from one run. Default: as the program says.",
        examples=[True],
    )
    margin: float | None = Field(
        default=None,
        gt=0,
        description="Smaller changes count as none: 0.05 or 5%.",
        examples=["5%"],
    )

    judged: bool = Field(
        default=True,
        description="`false`: kept and shown, but left out of comparisons, so that no gate looks at it.",
        examples=[False],
    )

    @field_validator("margin", mode="before")
    @classmethod
    def _percent(cls, value: Any) -> Any:
        return share(value)


class EntryConfig(Model):
    """One benchmark of a session, as the files say it."""

    name: Annotated[str, Field(description="Unique; also the folder of its results.", examples=["removal"])]
    enabled: bool = Field(
        default=True, description="`false`: nothing else of the entry is looked at.", examples=[False]
    )
    script: str | None = Field(
        default=None,
        description="Looked for in script_base_dir, beside this file, in scripts/, then among the bundled ones.",
        examples=["removal_benchmark.py"],
    )
    script_base_dir: str | None = Field(
        default=None, description="Folder where `script` is looked for first.", examples=["benchmarks/"]
    )
    command: str | list[str] | None = Field(
        default=None,
        description="Instead of a script: any program; its output files are optional.",
        examples=["./bench --rows 1000000"],
    )
    interpreter: str | None = Field(
        default=None,
        description="Python of the script; by default the session's, or Assay's. Ray and packages are those it has.",
        examples=["/opt/curator/bin/python"],
    )
    args: str | list[str] = Field(
        default="",
        description="Arguments, split like a shell would, before values are put in; no shell runs.",
        examples=["--input {dataset:cc,parquet} --output {scratch_dir}/out"],
    )
    timeout_s: float | None = Field(
        default=None,
        gt=0,
        description="Seconds each of its runs may take; default_timeout_s by default.",
        examples=[1800],
    )
    grace_s: float = Field(
        default=DEFAULT_GRACE_S, ge=0, description="Seconds between SIGTERM and SIGKILL.", examples=[30]
    )
    ray: RayConfig | None = Field(
        default=None,
        description="A Ray cluster of its own, over the session's `ray:`; null: no cluster.",
        examples=[{"num_cpus": 8}],
    )
    object_store_size: ObjectStoreSize = Field(
        default=None, description="Object store of its Ray cluster, over the session's.", examples=[2_000_000_000]
    )
    gpu_mem_use_warning_threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of a GPU's memory in use that is warned of, over the session's.",
        examples=[0.05],
    )
    delete_scratch: bool | None = Field(
        default=None, description="Whether its {scratch_dir} is deleted, over the session's.", examples=[False]
    )
    requirements: list[Requirement] = Field(
        default=[],
        description="Bounds that metrics must keep for the entry to pass.",
        examples=[[{"metric": "rows_per_s", "max_regression": "5%"}]],
    )
    metrics: dict[str, MetricConfig] = Field(
        default={},
        description="Direction, unit and margin of its metrics, over the session's.",
        examples=[{"num_documents": {"exact": True}}],
    )
    repeat: int = Field(
        default=1,
        ge=1,
        le=10_000,
        description="Measured runs; they are interleaved with those of other entries. Six are enough for a verdict.",
        examples=[6],
    )
    warmup: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="Runs before the measured ones, recorded but not counted.",
        examples=[1],
    )
    retries: int = Field(
        default=0, ge=0, le=100, description="More attempts after a failure; each is recorded.", examples=[1]
    )
    needs: list[str] = Field(
        default=[], description="Entries that must have passed; otherwise it is skipped.", examples=[["fetch"]]
    )
    env: ProgramVariables = Field(
        default={},
        description="Environment variables of the program, over Assay's own.",
        examples=[{"OMP_NUM_THREADS": "2"}],
    )
    service: ServiceConfig | None = Field(
        default=None,
        description="A server that is started before each run; over the session's; null: none.",
        examples=[{"command": "./server --port {port}", "ready": "/health"}],
    )
    limits: Limits = Field(
        default=Limits(),
        description="Processors and memory that a run may use.",
        examples=[{"cpus": 2, "memory": "4GB"}],
    )
    gpus: int | list[int] | None = Field(
        default=None, description="How many GPUs it sees, or which, by number.", examples=[[0, 1]]
    )
    profiler: Literal["py-spy", "cprofile", "memray"] | None = Field(
        default=None, description="Profiler around each run; the report links what it wrote.", examples=["py-spy"]
    )
    sink_data: list[dict[str, Any]] | dict[str, Any] = Field(
        default=[],
        description="What this entry tells single sinks, each by its `name`.",
        examples=[[{"name": "slack", "additional_metrics": ["rows_per_s"]}]],
    )
    baseline: str | None = Field(
        default=None,
        description="Session to hold max_regression against; the recent level by default.",
        examples=["release-1.4"],
    )
    workload_version: int | str | None = Field(
        default=None,
        description="Change it when old and new results can't be compared: a new series starts.",
        examples=[2],
    )
    canary: bool = Field(
        default=False,
        description="Its code is fixed: what changes in it is the machine, and a comparison says so.",
        examples=[True],
    )
    tags: list[Tag] = Field(
        default=[], description="What it is found by on the dashboard: words without spaces.", examples=[["nightly"]]
    )

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
