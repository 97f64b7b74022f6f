from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from assay.loadgen.colocation.running.polling import join_of
from assay.loadgen.drive.driver import Sender
from assay.loadgen.graph.node import Place
from assay.loadgen.graph.shape import Join
from assay.loadgen.latency.objective import Of

Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Keys = Annotated[dict[str, Any], BeforeValidator(lambda given: {} if given is None else given)]
"""What goes to a constructor; `config:` with nothing behind it is none."""


class ComponentConfig(_Model):
    component: str
    config: Keys = {}


class StageConfig(ComponentConfig):
    id: int = Field(ge=0)
    name: str = ""
    outputs: Annotated[tuple[int, ...], AfterValidator(lambda ids: tuple(dict.fromkeys(ids)))] = ()
    """Each once: a router with the same stage for two of its answers may name it twice."""
    join: Join | None = None
    polling_policy: str | None = None
    """`join` by the class names that users have; see `polling`."""
    disable_logs: bool = False
    """No rows are recorded of this stage."""
    max_input_queue_depth: Count | None = None
    fan_out: Literal["copy", "share"] = "copy"
    max_visits: Count | None = None
    run: Place | None = None
    """Where the stage runs; not given, where its class asks, which is inline unless it says otherwise."""
    workers: Count = 1

    @property
    def joined(self) -> Join | None:
        """What several inputs do, in whichever of the two keys it was said."""
        return self.join if self.join is not None else join_of(self.polling_policy)


class WarmupConfig(_Model):
    queries: Count | None = None
    seconds: Seconds | None = None
    component: str | None = None
    config: dict[str, Any] = {}


class LoadgenConfig(ComponentConfig):
    queue_depth: Count | None = None
    max_queries: Count | None = None
    duration: Seconds | None = None
    timeout: Seconds | None = None
    percentile: Share | None = None
    min_duration: float = Field(default=0.0, ge=0)
    seed: int = 0
    sender: Sender = "auto"
    max_failures: int = Field(default=0, ge=0)
    is_training: bool | None = None
    """Stages that can do both train (true) or only infer (false); left out, they do as the data's split says."""
    warmup: WarmupConfig | None = None


class ObjectiveConfig(_Model):
    percentile: Share
    seconds: Seconds
    of: Of = "latency"


class LimitsConfig(_Model):
    """Enforced by the kernel, for the pipeline's process and all it starts."""

    cpus: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Processors' worth of time, at most."""
    cpu_weight: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Share of processors that others want too, in proportion to theirs; 100 is the usual."""
    memory_mb: Annotated[int, Field(ge=16)] | None = None


class PipelineConfig(_Model):
    name: str = Field(min_length=1)
    inputs: tuple[int, ...] | None = None
    outputs: tuple[int, ...] | None = None
    dataset_stage_id: int | None = None
    serialize_queries: bool = False
    """One query at a time, whatever `queue_depth` says."""
    loadgen: LoadgenConfig
    stages: tuple[StageConfig, ...]
    objectives: tuple[ObjectiveConfig, ...] = ()
    cpus: tuple[int, ...] = ()
    nice: int = Field(default=0, ge=-20, le=19)
    limits: LimitsConfig | None = None
    until: Literal["own", "others_end"] = "own"
    """What ends it: its own load, or the end of all pipelines whose load ends them."""
    device: str | None = None
    """`cpu`, `cuda`, `cuda:N`, `cuda:N/G/C`, `GPU-…`, `MIG-…`; left out, every GPU is seen and the stages choose."""
    mps_share: Annotated[int, Field(ge=1, le=100)] | None = None
    """Percent of the GPU's processors that CUDA's Multi-Process Service lets it use."""
    env: dict[str, str] = {}
    """Environment of its process, over Assay's own. Values are written to no file."""

    @field_validator("env", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        """Numbers and booleans as YAML writes them: `OMP_NUM_THREADS: 1`."""
        if not isinstance(value, dict):
            return value
        scalars = (bool, int, float)
        return {key: str(item).lower() if isinstance(item, scalars) else item for key, item in value.items()}

    @property
    def queries_at_once(self) -> int | None:
        """How many may be in flight; None without a bound."""
        return 1 if self.serialize_queries else self.loadgen.queue_depth

    @property
    def entry_stages(self) -> tuple[int, ...]:
        targets = {target for stage in self.stages for target in stage.outputs}
        return self.inputs if self.inputs is not None else tuple(s.id for s in self.stages if s.id not in targets)

    @property
    def exit_stages(self) -> tuple[int, ...]:
        return self.outputs if self.outputs is not None else tuple(s.id for s in self.stages if not s.outputs)


class PolicyConfig(ComponentConfig):
    timeout: Seconds = 10.0
    """A policy that has not come back from one call for this long hangs."""


class ColocationConfig(_Model):
    name: str = "colocation"
    pipelines: tuple[PipelineConfig, ...]
    policy: PolicyConfig | None = None
    """Who decides while pipelines run beside each other; without one, all are released at once and left alone."""
    listeners: tuple[str, ...] = ()
    """What users want to see of the machine; see `listeners`."""
    setup_timeout: Seconds = 600.0
    """For models to load: a pipeline that is not ready by then has failed."""
    stall_timeout: Seconds = 300.0
    """A pipeline that is inside a stage and has finished nothing for this long hangs."""

    def pipeline(self, name: str) -> PipelineConfig:
        return next(pipeline for pipeline in self.pipelines if pipeline.name == name)
