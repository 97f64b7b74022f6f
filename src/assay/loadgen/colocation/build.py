from __future__ import annotations

from typing import Any

from assay.loadgen.colocation.components import POLICIES, SCHEDULERS, STAGES, BadArguments, construct, need_complete
from assay.loadgen.colocation.config import PipelineConfig, PolicyConfig, StageConfig
from assay.loadgen.colocation.policies.policy import Policy
from assay.loadgen.drive.driver import Load
from assay.loadgen.graph.graph import Graph
from assay.loadgen.graph.node import Node, Place
from assay.loadgen.graph.query_nodes import with_queries
from assay.loadgen.latency.objective import Objective
from assay.loadgen.schedulers import LoadScheduler
from assay.loadgen.stop import Stop, Warmup
from assay.pipeline.query_form.query_stage import QueryStage
from assay.pipeline.run_stage import takes_queries
from assay.pipeline.stage import Stage


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
