from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from assay.pipeline.stage import Stage


class RunStage(Stage[Any, Any]):
    """A stage whose work is called `run`, as in the colocation benchmark that Assay grew from.

    Its keys arrive one by one, or all together where the constructor has a parameter `config`.
    """

    def __init__(self, config: Mapping[str, Any] | None = None, *more: Any, **keys: Any) -> None:
        self.config: dict[str, Any] = {**(config if isinstance(config, Mapping) else {}), **keys}

    @abstractmethod
    def run(self, data: Any) -> Any: ...

    def process(self, data: Any) -> Any:
        return self.run(data)
