from __future__ import annotations

import inspect
import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard, TypeVar

from assay.names import unknown
from assay.pipeline.stage import Stage

F = TypeVar("F", bound=Callable[..., Any])


class RunStage(Stage[Any, Any]):
    """A stage whose work is called `run`, as in the colocation benchmark (docs/migrate/colocation.md).

    Two forms. One takes a payload and returns the next; its keys arrive one by one, or all together where the
    constructor has a parameter `config`. The other takes a `Query` and returns `{id of the next stage: query}`; its
    constructor has the parameters `stage_config` and `pipeline_config`, and `QueryStage` drives it.
    """

    def __init__(self, config: Any = None, *more: Any, **keys: Any) -> None:
        stage_config = keys.pop("stage_config", config)
        pipeline_config = keys.pop("pipeline_config", more[0] if more else None)
        if pipeline_config is None:
            self.config: dict[str, Any] = {**(config if isinstance(config, Mapping) else {}), **keys}
            return
        self.id: int = stage_config.id
        self.name = stage_config.name
        self.parent_name: str = pipeline_config.name
        self.disable_logs: bool = stage_config.disable_logs
        self.extra_config: dict[str, Any] = stage_config.config
        self.config = self.extra_config
        # Only the keys count, as the stages to go on with: `{stage id: query}` for each of them means "to all".
        ends = stage_config.id in pipeline_config.exit_stages
        self.output_queues: dict[int, None] = dict.fromkeys((-1,) if ends else stage_config.outputs)
        self._stage_dict: Mapping[int, Any] = {}
        self._logger = logging.getLogger("benchmark")

    @abstractmethod
    def run(self, data: Any) -> Any: ...

    def process(self, data: Any) -> Any:
        return self.run(data)

    def prepare(self) -> None:
        """Before the first query, untimed, when all stages have been made."""

    def pre_run(self) -> None:
        """After `prepare`."""

    def post_run(self) -> None:
        """After the last query."""

    def get_dataset_splits(self) -> dict[str, int]:
        """Number of batches of each split; only asked of the stage that holds the data set."""
        return {"train": 1}

    def set_stage_dict(self, stage_dict: Mapping[int, Any]) -> None:
        self._stage_dict = stage_dict

    def dispatch_call(self, stage_id: int, method_name: str, *args: Any, **kwargs: Any) -> Any:
        """The method of another stage of the pipeline."""
        if stage_id not in self._stage_dict:
            raise ValueError(f"dispatch_call: {unknown('stage', stage_id, sorted(self._stage_dict))}")
        return getattr(self._stage_dict[stage_id], method_name)(*args, **kwargs)


def takes_queries(component: type[Stage[Any, Any]]) -> TypeGuard[type[RunStage]]:
    """Whether a class is of the second form: its constructor tells, or, where that takes anything, its `run`."""
    if not issubclass(component, RunStage):
        return False
    parameters = inspect.signature(component).parameters
    if {"stage_config", "pipeline_config"} <= parameters.keys():
        return True
    takes_anything = any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters.values())
    return takes_anything and next(iter([*inspect.signature(component.run).parameters][1:]), "") == "query"


def log_phase(method: F) -> F:
    """Does nothing. The colocation benchmark's decorator wrote a line before and after; Assay takes the times
    itself."""
    return method


def log_phase_single(parent_name: str, name: str, phase: str, start: str) -> None:
    """Does nothing. The colocation benchmark wrote a line that marked a phase; Assay takes the times itself."""
