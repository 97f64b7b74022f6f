"""What a stage with several inputs does, in the words of the colocation benchmark whose files Assay reads.

There every edge is a queue, and a class decides which of them is read next.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from assay.loadgen.driver.driver import Sender
from assay.loadgen.graph import Place
from assay.loadgen.graph_shape import Join
from assay.loadgen.latency import Of
from assay.names import unknown

_POLICIES: dict[str, Join | None] = {
    "SingleQueuePolicy": None,
    # Whichever came first is taken next, and the others after it.
    "FirstSubmittedPolicy": "each",
    "MergePolicy": "merge",
}


def join_of(policy: str | None) -> Join | None:
    return None if policy is None else _POLICIES.get(_class_name(policy))


def policy_problem(policy: str, join: Join | None, entries: int) -> str:
    """Why a polling policy cannot be honoured; empty if it can. `entries`: number of inputs of the stage."""
    name = _class_name(policy)
    if name not in _POLICIES:
        return (
            f"{unknown('polling policy', name, _POLICIES)}; Assay has no queues between stages that a class of "
            "one's own could read: use `join: first`, `join: merge` or `join: each`"
        )
    meant = _POLICIES[name]
    if join is not None and join != meant:
        same = f"is `join: {meant}`" if meant else "is for one input"
        return f"{name} {same}, but `join: {join}` is given too: leave one of them out"
    if meant is None and entries > 1:
        return (
            f"{name} is for one input, and this stage has {entries}: use FirstSubmittedPolicy (runs on each) "
            "or MergePolicy (waits for all)"
        )
    return ""


def _class_name(policy: str) -> str:
    return policy.replace(":", ".").rpartition(".")[2]


Seconds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(gt=0, lt=1)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Keys = Annotated[dict[str, Any], BeforeValidator(lambda given: {} if given is None else given)]
"""What goes to a constructor; `config:` with nothing behind it is none."""


class ComponentConfig(_Model):
    """A class and what its constructor is given."""

    component: str
    """A registered name (`poisson`), a dotted path, or one under `assay.`."""
    config: Keys = {}
    """Keys of the component's constructor."""


class StageConfig(ComponentConfig):
    """One stage of a pipeline."""

    id: int = Field(ge=0)
    """Number that other stages name it by."""
    name: str = ""
    """Name in tables and events; the class's own by default."""
    outputs: Annotated[tuple[int, ...], AfterValidator(lambda ids: tuple(dict.fromkeys(ids)))] = ()
    """Ids of the stages that its results go to; each counts once, though a router may name one twice."""
    join: Join | None = None
    """What several inputs do: `merge` waits for all, `first` takes the first, `each` runs on each."""
    polling_policy: str | None = None
    """`join` by the class names that users have; see `polling`."""
    disable_logs: bool = False
    """No rows are recorded of this stage."""
    max_input_queue_depth: Count | None = None
    """Accepted where stages run inline, which need no queue; refused where they have workers."""
    fan_out: Literal["copy", "share"] = "copy"
    """Whether several outputs get a copy of the payload each, or share one."""
    max_visits: Count | None = None
    """How often one query may come here, where stages form a cycle."""
    run: Place | None = None
    """Where the stage runs; not given, where its class asks, which is inline unless it says otherwise."""
    workers: Count = 1
    """Threads or processes of the stage, where it does not run inline."""

    @property
    def joined(self) -> Join | None:
        """What several inputs do, in whichever of the two keys it was said."""
        return self.join if self.join is not None else join_of(self.polling_policy)


class WarmupConfig(_Model):
    """Load before the measured one; it is in no figure."""

    queries: Count | None = None
    """How many queries."""
    seconds: Seconds | None = None
    """How long."""
    component: str | None = None
    """A load scheduler of its own; the measured load's by default."""
    config: dict[str, Any] = {}
    """Keys of that scheduler."""


class LoadgenConfig(ComponentConfig):
    """When queries are sent, and until when. Its component is a load scheduler."""

    queue_depth: Count | None = None
    """Queries in flight at most; what is sent beyond it waits, and its wait counts. No bound by default."""
    max_queries: Count | None = None
    """Ends the load after so many queries."""
    duration: Seconds | None = None
    """Ends the load after so many seconds."""
    timeout: Seconds | None = None
    """Seconds after which the pipeline has failed."""
    percentile: Share | None = None
    """Ends the load as soon as this percentile of the latency is known well enough (MLPerf's rule)."""
    min_duration: float = Field(default=0.0, ge=0)
    """Seconds that the load lasts at least, where `percentile` would end it earlier."""
    seed: int = 0
    """Random seed of the schedule and of the order of samples: the same seed sends the same queries at the same
    times."""
    sender: Sender = "auto"
    """Who sends: the pipeline's process (`inline`) or a process of its own; `auto` decides."""
    max_failures: int = Field(default=0, ge=0)
    """Queries that may fail without the pipeline having failed."""
    is_training: bool | None = None
    """Stages that can do both train (true) or only infer (false); left out, they do as the data's split says."""
    warmup: WarmupConfig | None = None
    """Load before the measured one."""


class ObjectiveConfig(_Model):
    """What a pipeline must keep: so many of its queries within so many seconds."""

    percentile: Share
    """Share of queries, such as 0.99."""
    seconds: Seconds
    """Time that they may take."""
    of: Of = "latency"
    """Which time."""


class LimitsConfig(_Model):
    """Limits that the kernel enforces, for the pipeline's process and all it starts."""

    cpus: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Processors' worth of time, at most."""
    cpu_weight: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """Share of processors that others want too, in proportion to theirs; 100 is the usual."""
    memory_mb: Annotated[int, Field(ge=16)] | None = None
    """Megabytes of memory, at most."""


class PipelineConfig(_Model):
    """Stages under one load, in a process of their own."""

    name: str = Field(min_length=1)
    """Unique; also the folder of its results."""
    inputs: tuple[int, ...] | None = None
    """Ids of the stages that take the queries; left out, those that nothing leads to."""
    outputs: tuple[int, ...] | None = None
    """Ids of the stages whose end is the query's; left out, those that lead nowhere."""
    dataset_stage_id: int | None = None
    """Id of the stage whose length is the number of samples; a query carries a sample's number."""
    serialize_queries: bool = False
    """One query at a time, whatever `queue_depth` says."""
    loadgen: LoadgenConfig
    """The load."""
    stages: tuple[StageConfig, ...]
    """The stages, as a graph: each names those that its results go to."""
    objectives: tuple[ObjectiveConfig, ...] = ()
    """Latencies that it must keep to end well."""
    cpus: tuple[int, ...] = ()
    """Numbers of the processors it may use; all by default."""
    nice: int = Field(default=0, ge=-20, le=19)
    """Priority, as `nice` has it: 19 gives way to everybody."""
    limits: LimitsConfig | None = None
    """What the kernel lets it use; refused where the machine does not permit control groups."""
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
    """Who decides while pipelines run beside each other."""

    timeout: Seconds = 10.0
    """Seconds after which a policy that has not come back from one call counts as hung."""


class ColocationConfig(_Model):
    """A file for `assay colocate`."""

    name: str = "colocation"
    """Name of the results' folder, before the time."""
    pipelines: tuple[PipelineConfig, ...]
    """The pipelines."""
    policy: PolicyConfig | None = None
    """Who decides while pipelines run beside each other; without one, all are released at once and left alone."""
    listeners: tuple[str, ...] = ()
    """What is wanted of the machine: `top`, `ps`, `free`, `iostat`, `smi`, `dcgmi`, `macmon`."""
    setup_timeout: Seconds = 600.0
    """Seconds for models to load: a pipeline that is not ready by then has failed."""
    stall_timeout: Seconds = 300.0
    """Seconds after which a pipeline that is inside a stage and has finished nothing counts as hung."""

    def pipeline(self, name: str) -> PipelineConfig:
        return next(pipeline for pipeline in self.pipelines if pipeline.name == name)
