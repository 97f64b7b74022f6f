from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.pipeline.query_form.query_numbers import QueryNumbers
from assay.pipeline.query_form.reached import Reached
from assay.pipeline.resources import Worker
from assay.pipeline.route import Routed, RouterStage
from assay.pipeline.run_stage import RunStage
from assay.pipeline.stage import Stage

_REFERENCES = ("_stage_id", "depends_on_id")
"""Endings of the keys by which a stage's configuration names another stage."""


class QueryStage(RouterStage[Any, Any]):
    """A user's stage that takes a `Query` and returns `{id of the next stage: query}`.

    It is made in the process that runs it, not when the configuration is checked: such constructors load models.
    """

    def __init__(self, component: type[RunStage], stage_config: Any, pipeline_config: Any) -> None:
        self._component = component
        self._configs = (stage_config, pipeline_config)
        self._outputs = tuple(stage_config.outputs)
        self._made: RunStage | None = None
        self._stages: Mapping[int, Stage[Any, Any]] = {}
        self._numbers = QueryNumbers(dict)
        self.name = stage_config.name
        # Where it sends a query is its own business, and so is when it stops sending it round.
        self.ends_cycles = len(self._outputs) > 1

    def connect(self, stages: Mapping[int, Stage[Any, Any]], numbers: QueryNumbers) -> None:
        """All stages of its pipeline, which it may call. Those that it names and that are not of its kind are set up
        before it."""
        self._stages, self._numbers = stages, numbers
        named = [value for key, value in self._configs[0].config.items() if key.endswith(_REFERENCES)]
        self.uses = tuple(id for id in dict.fromkeys(named) if id in stages and not isinstance(stages[id], QueryStage))

    @property
    def reached(self) -> RunStage:
        """The user's object, made when it is first asked for: another may call it before it is set up."""
        if self._made is None:
            self._made = self._component(*self._configs)
            self._made.set_stage_dict(Reached(self._stages))
        return self._made

    def setup(self, worker: Worker) -> None:
        self.reached.prepare()
        self.reached.pre_run()

    def teardown(self) -> None:
        if self._made is not None:
            self._made.post_run()

    def __len__(self) -> int:
        return sum(self.reached.get_dataset_splits().values())

    def process(self, data: Any) -> Any:
        query = self._numbers.as_query(data)
        sent = self.reached.run(query)
        if not isinstance(sent, Mapping):
            raise TypeError(f"run returned {type(sent).__name__}, not {{stage id: query}}")
        kept = next(iter(sent.values()), query)
        if any(each is not kept for each in sent.values()):
            raise ValueError("run returned several queries, and what a query becomes here is one")
        targets = tuple(target for target in sent if target != -1)
        return kept if -1 in sent or targets == self._outputs else Routed(kept, targets)

    def __deepcopy__(self, memo: dict[int, Any]) -> QueryStage:
        """A stage for another worker: made anew, in the same pipeline."""
        again = QueryStage(self._component, *self._configs)
        again._stages, again._numbers, again.uses = self._stages, self._numbers, self.uses
        return again

    def __getstate__(self) -> dict[str, Any]:
        """What goes to a process of its own, from which the other stages cannot be reached."""
        return {**self.__dict__, "_made": None, "_stages": {}, "_numbers": QueryNumbers(dict)}
