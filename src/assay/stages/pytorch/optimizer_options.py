from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from pydantic import ConfigDict

from assay.errors import UsageError
from assay.names import unknown
from assay.stages.pytorch.component import component
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.options import Options


class OptimizerOptions(Options):
    """`component: torch.optim.AdamW` or `name: AdamW`, and the keys that go to it."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    component: str | None = None
    name: str | None = None

    @classmethod
    def read(cls, block: str, given: Mapping[str, Any] | None) -> Self:
        options = super().read(block, given)
        if options.component is not None and options.name is not None:
            raise ValueError(f"{block}: give component or name, not both")
        return options

    def build(self, parameters: Iterable[Any]) -> Any:
        arguments = {"lr": 3e-4, **(self.model_extra or {})}
        try:
            return self._found()(parameters, **arguments)
        except (TypeError, ValueError) as error:
            raise UsageError(f"optimizer: {error}") from None

    def _found(self) -> Any:
        if self.component is not None:
            return component(self.component, "llm")
        known = {
            name.lower(): found
            for name, found in vars(library("torch.optim", "llm")).items()
            if isinstance(found, type) and name != "Optimizer"
        }
        name = (self.name or "AdamW").lower()
        if name not in known:
            raise ValueError(unknown("optimizer", self.name, [found.__name__ for found in known.values()]))
        return known[name]
