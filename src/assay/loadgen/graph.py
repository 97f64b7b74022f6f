from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from assay.errors import ConfigError, DataError
from assay.loadgen.graph_shape import GraphShape, Join, StageShape
from assay.names import Registry
from assay.pipeline.query import QueryNumbers, QueryStage, envelop
from assay.pipeline.source import Batch, Source
from assay.pipeline.stage import RouterStage, Stage, StreamStage, Worker

Place = Literal["inline", "thread", "process"]


@dataclass(frozen=True)
class Node:
    """A stage in its place in a graph."""

    id: int
    stage: Stage[Any, Any]
    name: str = ""
    outputs: tuple[int, ...] = ()
    join: Join | None = None
    max_visits: int | None = None
    share: bool = False
    """Whether all branches of a fan-out get the same object. Otherwise all but the first get a copy of what can
    change."""
    place: Place = "inline"
    workers: int = 1
    recorded: bool = True
    """False: no rows are written of this stage, and its time is counted for no stage."""

    @property
    def shape(self) -> StageShape:
        name = self.name or self.stage.name or type(self.stage).__name__
        return StageShape(
            self.id,
            name,
            self.outputs,
            self.join,
            self.max_visits,
            self.stage.stateful,
            self.workers,
            self.stage.uses,
            self.stage.ends_cycles,
            self.place == "process",
        )


def with_queries(nodes: Sequence[Node], dataset: int | None) -> list[Node]:
    """The nodes as they are, or, where a user's stage takes queries, all of them with queries as payloads."""
    if not any(isinstance(node.stage, QueryStage) for node in nodes):
        return list(nodes)
    stages: dict[int, Stage[Any, Any]] = {}
    numbers = QueryNumbers(lambda: _splits(stages, dataset))
    for node in nodes:
        stages[node.id] = node.stage if isinstance(node.stage, QueryStage) else envelop(node.stage, numbers)
    for stage in stages.values():
        if isinstance(stage, QueryStage):
            stage.connect(stages, numbers)
    return [replace(node, stage=stages[node.id]) for node in nodes]


def _splits(stages: Mapping[int, Stage[Any, Any]], dataset: int | None) -> dict[str, int]:
    stage = None if dataset is None else stages[dataset]
    if isinstance(stage, QueryStage):
        return stage.reached.get_dataset_splits()
    return {} if stage is None else {"train": len(stage)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Graph:
    """The stages of a pipeline, where queries enter and where they leave."""

    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    dataset: int | None = None
    """The stage that holds the data set: its `len` is the number of samples, and queries carry a sample's number."""
    _set_up: set[int] = field(default_factory=set, init=False, repr=False, compare=False)
    """Stages that can be torn down."""

    @classmethod
    def build(
        cls,
        nodes: Sequence[Node],
        inputs: Iterable[int] | None = None,
        outputs: Iterable[int] | None = None,
        dataset: int | None = None,
    ) -> Graph:
        targets = {target for node in nodes for target in node.outputs}
        given = tuple(node.id for node in nodes if node.id not in targets) if inputs is None else tuple(inputs)
        ends = tuple(node.id for node in nodes if not node.outputs) if outputs is None else tuple(outputs)
        graph = cls(tuple(nodes), given, ends, dataset)
        if problems := graph.shape.problems():
            raise ConfigError([f"{'.'.join(map(str, problem.path))}: {problem.message}" for problem in problems])
        return graph

    @classmethod
    def chain(cls, stages: Sequence[Stage[Any, Any]], dataset: bool = False) -> Graph:
        """One stage after the other; with `dataset`, the first holds the data."""
        last = len(stages) - 1
        nodes = [Node(n, stage, outputs=() if n == last else (n + 1,)) for n, stage in enumerate(stages)]
        return cls.build(nodes, dataset=0 if dataset else None)

    @property
    def shape(self) -> GraphShape:
        return GraphShape(tuple(node.shape for node in self.nodes), self.inputs, self.outputs, self.dataset)

    @property
    def names(self) -> dict[int, str]:
        return {node.id: node.shape.name for node in self.nodes}

    @property
    def silent(self) -> frozenset[int]:
        """Stages of which no rows are written."""
        return frozenset(node.id for node in self.nodes if not node.recorded)

    def node(self, stage: int) -> Node:
        return next(node for node in self.nodes if node.id == stage)

    @property
    def inline(self) -> bool:
        return all(node.place == "inline" for node in self.nodes)

    def linear(self) -> list[Node] | None:
        """The chain, if this is one whose stages take a payload and return the next, all inline."""
        if not self.inline or len(self.inputs) != 1:
            return None
        nodes = {node.id: node for node in self.nodes}
        chain = [nodes[self.inputs[0]]]
        while len(chain) <= len(nodes):
            last = chain[-1]
            if isinstance(last.stage, StreamStage | RouterStage) or last.max_visits is not None:
                return None
            if not last.outputs:
                return chain if len(chain) == len(nodes) and self.outputs == (last.id,) else None
            if len(last.outputs) > 1 or last.id in self.outputs:
                return None
            chain.append(nodes[last.outputs[0]])
        return None

    def samples(self) -> int | None:
        """How many samples the data set has; None without one. Known only after the stages are set up."""
        if self.dataset is None:
            return None
        node = self.node(self.dataset)
        try:
            size = len(node.stage)  # type: ignore[arg-type]
        except TypeError:
            raise DataError(
                f"stage {node.id} ({node.shape.name}) is the data set but {type(node.stage).__name__} has no length: "
                "give it `__len__`, or leave dataset_stage_id out"
            ) from None
        if size == 0:
            raise DataError(f"the data set of stage {node.id} ({node.shape.name}) is empty: there is nothing to query")
        return size

    def set_up_order(self) -> list[Node]:
        return [self.node(stage) for stage in self.shape.set_up_order() or ()]

    def stages_used_by(self, stage: Stage[Any, Any]) -> dict[int, Stage[Any, Any]]:
        return {used: self.node(used).stage for used in stage.uses}

    def setup(self, device: str = "cpu", training: bool | None = None) -> None:
        """Sets up the stages that run in this process; those in threads and processes are set up by their workers.

        A stage whose model others use is set up here wherever it runs: they take the model from this object.
        """
        used = {used for node in self.nodes for used in node.stage.uses}
        for node in self.set_up_order():
            if node.place == "inline" or node.id == self.dataset or node.id in used:
                node.stage.link(self.stages_used_by(node.stage))
                node.stage.setup(Worker(device=device, training=training))
                self._set_up.add(node.id)

    def teardown(self) -> None:
        for node in self.nodes:
            if node.id in self._set_up and (node.place == "inline" or node.id == self.dataset):
                node.stage.teardown()


SOURCES: Registry[Source] = Registry("source", Source)  # type: ignore[type-abstract]


class SourceSamples(Stage[int, Batch]):
    """Puts a curation pipeline under load: its source, read at set-up, is the data set.

    A query carries `rows` rows, as a batch the pipeline's stages take. `most` bounds how many samples are held.
    """

    name = "samples"

    def __init__(self, source: str, config: Mapping[str, Any] | None = None, rows: int = 1, most: int = 1000) -> None:
        if rows < 1 or most < 1:
            raise ValueError("rows and most must be at least 1")
        self.source = source
        self.config = dict(config or {})
        self.rows = rows
        self.most = most
        self._samples: list[Batch] = []
        # Found and built here so that a wrong name or argument is seen when the configuration is read; neither reads.
        self._source = SOURCES.find(source)(**self.config)

    def setup(self, worker: Worker) -> None:
        self._samples = []
        for split in self._source.splits():
            for batch in self._source.read(split):
                if not isinstance(batch, Batch):
                    raise DataError(f"{self.source} reads {type(batch).__name__}, which is not a batch of rows")
                for first in range(0, len(batch), self.rows):
                    self._samples.append(batch.slice(first, min(first + self.rows, len(batch))))
                    if len(self._samples) == self.most:
                        return

    def __len__(self) -> int:
        return len(self._samples)

    def process(self, data: int) -> Batch:
        return self._samples[data]
