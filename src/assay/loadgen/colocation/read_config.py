from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.document.validation import validate
from assay.document.yaml_file import read_yaml
from assay.document.yaml_node import YamlNode, path_text
from assay.errors import AssayError, ConfigError, UsageError
from assay.loadgen.colocation.build_components import SCHEDULERS, BadArguments, build_load, build_node, build_policy
from assay.loadgen.colocation.colocation import folder_name
from assay.loadgen.colocation.colocation_config import ColocationConfig, PipelineConfig, PolicyConfig, policy_problem
from assay.loadgen.colocation.devices import SHARE, VISIBLE, NoSuchDevice, find_device, mps_problem
from assay.loadgen.colocation.pipeline_limits import limits_problem
from assay.loadgen.colocation.pipeline_worker import listener_problem
from assay.loadgen.graph import Node, with_queries
from assay.loadgen.graph_shape import GraphShape, StageShape
from assay.names import look_in, quote, unknown
from assay.process.limits import processors_problem

_LONGEST = 200
"""Bytes of a folder's name that file systems take, less what is put behind it."""


def name_problem(name: str, folders: dict[str, str] | None = None) -> str:
    """Why results cannot be kept under a name; empty if they can. `folders` are those in use, to which its own is
    added: names that differ only in signs that a folder cannot have would share one."""
    try:
        folder = folder_name(name)
    except UsageError:
        return f"{quote(name)} needs a letter or a digit, as results go to a folder of that name"
    if len(folder.encode()) > _LONGEST:
        return f"the name is too long for a folder ({_LONGEST} bytes are possible)"
    if folders is None:
        return ""
    other = folders.get(folder)
    folders.setdefault(folder, name)
    if other == name:
        return f"there is another pipeline {quote(name)}"
    return "" if other is None else f"results of {quote(name)} and {quote(other)} would share the folder {folder}"


Step = str | int
Problem = tuple[tuple[Step, ...], str]

_UNBOUNDED = (
    "the queues before stages with workers cannot be bounded one by one: bound the queries in flight with "
    "`queue_depth` of the loadgen"
)


def read_config(path: Path, policy: str | None = None) -> ColocationConfig:
    """The configuration, checked whole: everything that is wrong with it is reported at once, with its line.

    `policy` is used instead of the file's; where it is the same, with the file's keys.
    """
    root = read_yaml(path)
    config = validate(ColocationConfig, root)
    # Stages of a user's own may lie beside the configuration, or below the folder that Assay is started in.
    look_in(Path.cwd(), path.resolve().parent)
    if policy is not None and (config.policy is None or config.policy.component != policy):
        config = config.model_copy(update={"policy": PolicyConfig(component=policy)})
    if problems := [_format_problem(root, *problem) for problem in _problems(config)]:
        raise ConfigError(problems)
    return config


def _format_problem(root: YamlNode, path: tuple[Step, ...], message: str) -> str:
    node = root.at(path)
    return f"{node.mark}: {path_text(path)}: {message}"


def _problems(config: ColocationConfig) -> Iterator[Problem]:
    if not config.pipelines:
        yield ("pipelines",), "there is none"
    for at, name in enumerate(config.listeners):
        if problem := listener_problem(name):
            yield ("listeners", at), problem
    if problem := name_problem(config.name):
        yield ("name",), problem
    folders: dict[str, str] = {}
    for at, pipeline in enumerate(config.pipelines):
        if problem := name_problem(pipeline.name, folders):
            yield ("pipelines", at, "name"), problem
        for path, message in _of_pipeline(pipeline):
            yield ("pipelines", at, *path), message
    yield from _of_policy(config)
    if config.pipelines and all(pipeline.until == "others_end" for pipeline in config.pipelines):
        words = "every pipeline would go on until the others end, so none ever would"
        yield ("pipelines", 0, "until"), f"{words}: leave `until` out of what is measured"


def _of_policy(config: ColocationConfig) -> Iterator[Problem]:
    if config.policy is None:
        return
    try:
        policy = build_policy(config.policy)
        for name in policy.pipelines:
            if name not in (known := [pipeline.name for pipeline in config.pipelines]):
                yield ("policy", "config"), unknown("pipeline", name, known)
    except BadArguments as error:
        yield ("policy", "config", *([error.key] if error.key else [])), str(error)
    except AssayError as error:
        yield ("policy", "component"), str(error)


def _of_pipeline(pipeline: PipelineConfig) -> Iterator[Problem]:
    if not pipeline.stages:
        yield ("stages",), "there is none"
        return
    stages: list[StageShape] = []
    nodes: dict[int, Node] = {}
    for at, stage in enumerate(pipeline.stages):
        name = stage.name or stage.component.rpartition(".")[2]
        # A router that cannot be built may be one that bounds its cycle: only what is wrong with it is said.
        stages.append(StageShape(stage.id, name, stage.outputs, stage.joined, stage.max_visits, ends_cycles=True))
        try:
            nodes[at] = build_node(stage, pipeline)
        except BadArguments as error:
            yield ("stages", at, "config", *([error.key] if error.key else [])), str(error)
        except AssayError as error:
            yield ("stages", at, "component"), str(error)
        if stage.workers > 1 and (stage.run or "inline") == "inline":
            yield ("stages", at, "workers"), "workers need `run: thread` or `run: process`"
    for at, node in zip(nodes, with_queries([*nodes.values()], pipeline.dataset_stage_id), strict=True):
        stages[at] = node.shape
    graph = GraphShape(tuple(stages), pipeline.entry_stages, pipeline.exit_stages, pipeline.dataset_stage_id)
    policies = dict(_of_policies(pipeline, graph))
    for at, message in policies.items():
        yield ("stages", at, "polling_policy"), message
        # `each` stands in, so that a policy that cannot be honoured is not said a second time, as a missing one.
        stages[at] = replace(stages[at], join="each")
    graph = replace(graph, stages=tuple(stages))
    yield from ((problem.path, problem.message) for problem in graph.problems())
    if any(node.place != "inline" for node in nodes.values()):
        yield from _of_queues(pipeline)
    yield from _of_load(pipeline)
    if problem := processors_problem(pipeline.cpus):
        yield ("cpus",), problem
    yield from _of_device(pipeline)
    if pipeline.limits is not None and (problem := limits_problem()):
        yield ("limits",), f"{problem}; leave `limits` out"


def _of_policies(pipeline: PipelineConfig, graph: GraphShape) -> Iterator[tuple[int, str]]:
    for at, stage in enumerate(pipeline.stages):
        if stage.polling_policy is not None:
            entries = len(graph.entering(stage.id))
            if problem := policy_problem(stage.polling_policy, stage.join, entries):
                yield at, problem


def _of_queues(pipeline: PipelineConfig) -> Iterator[Problem]:
    """Problems of queue depths, in a pipeline with workers. Without workers a query has passed all stages before the
    next begins, and none waits."""
    for at, stage in enumerate(pipeline.stages):
        if stage.max_input_queue_depth is not None:
            yield ("stages", at, "max_input_queue_depth"), _UNBOUNDED


def _of_device(pipeline: PipelineConfig) -> Iterator[Problem]:
    given = {"device": VISIBLE, "mps_share": SHARE}
    for key, variable in given.items():
        if getattr(pipeline, key) is not None and variable in pipeline.env:
            yield ("env", variable), f"`{key}` decides {variable}: give one of the two"
    try:
        device = find_device(pipeline.device)
    except NoSuchDevice as error:
        yield ("device",), str(error)
        return
    if pipeline.mps_share is None:
        return
    if not device.certain:
        yield ("mps_share",), "a share is one of a GPU: say which by `device: cuda:N`"
    elif problem := mps_problem(pipeline.env):
        yield ("mps_share",), problem


def _of_load(pipeline: PipelineConfig) -> Iterator[Problem]:
    try:
        SCHEDULERS.find(pipeline.loadgen.component)
    except AssayError as error:
        yield ("loadgen", "component"), str(error)
        return
    try:
        load = build_load(pipeline)
    except BadArguments as error:
        yield ("loadgen", "config", *([error.key] if error.key else [])), str(error)
        return
    except AssayError as error:
        yield ("loadgen", "warmup", "component"), str(error)
        return
    except ValueError as error:
        yield ("loadgen", "warmup"), str(error)
        return
    stop, scheduler = load.stop, load.scheduler
    if pipeline.until == "others_end":
        if scheduler.concurrency is None and not scheduler.ends(counted=False, timed=True):
            words = f"{pipeline.loadgen.component} at no rate sends everything at once, which has no end with"
            yield ("loadgen",), f"{words} `until: others_end`: use single_stream or concurrent, or give a rate"
        return
    counted = stop.max_queries is not None or pipeline.dataset_stage_id is not None
    if scheduler.concurrency is None:
        if not scheduler.ends(counted, stop.send_for is not None):
            yield ("loadgen",), f"{pipeline.loadgen.component} never ends: add max_queries or duration"
    elif stop.max_queries is None and stop.send_for is None and stop.percentile is None:
        yield ("loadgen",), "a closed loop never ends by itself: add max_queries, duration, timeout or percentile"
