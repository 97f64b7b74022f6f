from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

from assay.compat.user_code import loading_user_code
from assay.errors import AssayError
from assay.loadgen.colocation.colocation_config import PipelineConfig, PolicyConfig, StageConfig
from assay.loadgen.colocation.policy import Policy
from assay.loadgen.driver.driver import Load
from assay.loadgen.graph import Graph, Node, Place, with_queries
from assay.loadgen.latency import Objective
from assay.loadgen.schedulers import LoadScheduler
from assay.loadgen.schedulers.scheduler import SCHEDULERS as SCHEDULERS
from assay.loadgen.stop import Stop, Warmup
from assay.names import Registry, list_names, unknown
from assay.pipeline.query import QueryStage
from assay.pipeline.run_stage import RunStage, takes_queries
from assay.pipeline.stage import Stage

T = TypeVar("T")

POLICIES: Registry[Policy] = Registry(
    "policy",
    Policy,  # type: ignore[type-abstract]
    {
        "all_at_once": "assay.loadgen.colocation.policy.AllAtOnce",
        "latency_first": "assay.loadgen.colocation.policy.LatencyFirst",
    },
)

STAGES: Registry[Stage[Any, Any]] = Registry(
    "stage",
    Stage,  # type: ignore[type-abstract]
    {
        "busy_cpu": "assay.stages.synthetic.BusyCpu",
        "cache_thrash": "assay.stages.synthetic.CacheThrash",
        "disk": "assay.stages.synthetic.Disk",
        "memory_bandwidth": "assay.stages.synthetic.MemoryBandwidth",
        "no_op": "assay.stages.synthetic.NoOp",
        "pass_through": "assay.stages.synthetic.PassThrough",
        "payload_copy": "assay.stages.synthetic.PayloadCopy",
        "samples": "assay.stages.synthetic.Samples",
        "sleep": "assay.stages.synthetic.Sleep",
        "stages.Stage": "assay.stages.synthetic.PassThrough",
        "stages.stage.Stage": "assay.stages.synthetic.PassThrough",
        "stream": "assay.stages.synthetic.Stream",
    },
)


class BadArguments(AssayError):
    """`key` is the argument at fault; None where it is all of them together."""

    def __init__(self, message: str, key: str | None = None) -> None:
        self.key = key
        super().__init__(message)


def construct(component: type[T], arguments: Mapping[str, Any], called: str = "") -> T:
    """An instance, or what is wrong with the arguments, in words of the configuration; `called`: the class there, where
    it may have another name than its own."""
    need_complete(component)
    called = called or component.__name__
    parameters = inspect.signature(component).parameters
    if issubclass(component, RunStage) and _takes_config(parameters):
        arguments = {"config": dict(arguments)}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        for name in arguments:
            if name not in parameters:
                raise BadArguments(f"{called}: {unknown('key', name, parameters)}", name)
    for name, parameter in parameters.items():
        required = parameter.default is parameter.empty and parameter.kind in (
            parameter.POSITIONAL_OR_KEYWORD,
            parameter.KEYWORD_ONLY,
        )
        if required and name not in arguments:
            raise BadArguments(f"{called}: {name} is missing")
    try:
        with loading_user_code():
            return component(**arguments)
    except AssayError as error:
        raise BadArguments(str(error)) from None
    except (TypeError, ValueError) as error:
        raise BadArguments(f"{called}: {error}") from None


def need_complete(component: type[Any]) -> None:
    """A class that lacks what its base asks for cannot be made."""
    if not inspect.isabstract(component):
        return
    base = next(base for base in (LoadScheduler, Policy, RunStage, Stage) if issubclass(component, base))
    asked = list_names(sorted(component.__abstractmethods__))
    raise BadArguments(f"{component.__name__} does not define {asked}, which {base.__name__} of Assay asks for")


def _takes_config(parameters: Mapping[str, inspect.Parameter]) -> bool:
    """Whether the constructor takes all keys together, as a parameter `config`. If that has a default and `**keys`
    stands beside it, they come one by one."""
    config = parameters.get("config")
    required = config is not None and config.default is config.empty
    return config is not None and (required or not any(p.kind is p.VAR_KEYWORD for p in parameters.values()))


def build_graph(pipeline: PipelineConfig) -> Graph:
    nodes = [build_node(stage, pipeline) for stage in pipeline.stages]
    nodes = with_queries(nodes, pipeline.dataset_stage_id)
    return Graph.build(nodes, pipeline.entry_stages, pipeline.exit_stages, pipeline.dataset_stage_id)


def build_node(config: StageConfig, pipeline: PipelineConfig) -> Node:
    stage = _stage(config, pipeline)
    place: Place = config.run or getattr(stage, "place", None) or "inline"
    return Node(
        id=config.id,
        stage=stage,
        name=config.name or config.component.rpartition(".")[2],
        outputs=config.outputs,
        join=config.joined,
        max_visits=config.max_visits,
        share=config.fan_out == "share",
        place=place,
        workers=config.workers,
        recorded=not config.disable_logs,
    )


def _stage(config: StageConfig, pipeline: PipelineConfig) -> Stage[Any, Any]:
    component = STAGES.find(config.component)
    if not takes_queries(component):
        return construct(component, config.config, STAGES.class_name(config.component))
    need_complete(component)
    return QueryStage(component, config, pipeline)


def build_scheduler(pipeline: PipelineConfig) -> LoadScheduler:
    return construct(SCHEDULERS.find(pipeline.loadgen.component), pipeline.loadgen.config)


def build_load(pipeline: PipelineConfig) -> Load:
    loadgen = pipeline.loadgen
    warmup = None
    if loadgen.warmup is not None:
        given = loadgen.warmup
        own = None if given.component is None else construct(SCHEDULERS.find(given.component), given.config)
        warmup = Warmup(given.queries, given.seconds, own)
    return Load(
        build_scheduler(pipeline),
        build_stop(pipeline),
        pipeline.queries_at_once,
        warmup,
        loadgen.seed,
        loadgen.sender,
        loadgen.max_failures,
        loadgen.is_training,
    )


def build_stop(pipeline: PipelineConfig) -> Stop:
    given = pipeline.loadgen
    bounds = (given.max_queries, given.duration, given.timeout, given.percentile, given.min_duration)
    return Stop(*bounds, on_request=pipeline.until == "others_end")


def build_policy(config: PolicyConfig) -> Policy:
    policy = construct(POLICIES.find(config.component), config.config)
    for name in ("every_s", "window_s"):
        value = getattr(policy, name)
        if not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise BadArguments(f"{type(policy).__name__}: {name} must be seconds, greater than 0, not {value!r}")
    return policy


def build_objectives(pipeline: PipelineConfig) -> tuple[Objective, ...]:
    return tuple(Objective(o.percentile, o.seconds, o.of) for o in pipeline.objectives)
