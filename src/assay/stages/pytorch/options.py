from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.names import unknown


class Options(BaseModel):
    """A block of keys inside a stage's configuration (`model:`, `optimizer:`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    @classmethod
    def read(cls, block: str, given: Mapping[str, Any] | None) -> Self:
        """The options, or a ValueError that names the key at fault and says what is wrong with it."""
        if given is not None and not isinstance(given, Mapping):
            raise ValueError(f"{block} must be a block of keys, not {given!r}")
        try:
            return cls.model_validate(dict(given or {}))
        except ValidationError as error:
            raise ValueError("; ".join(cls._worded(block, problem) for problem in error.errors())) from None

    @classmethod
    def _worded(cls, block: str, problem: Any) -> str:
        path = [str(step) for step in problem["loc"]]
        where = ".".join([block, *path])
        if problem["type"] == "extra_forbidden":
            return f"{'.'.join([block, *path[:-1]])}: {unknown('key', path[-1], cls.model_fields)}"
        if problem["type"] == "missing":
            return f"{where} is missing"
        if problem["type"] == "value_error":
            return f"{where}: {problem['ctx']['error']}"
        return f"{where}: {problem['msg']}, not {problem['input']!r}"


class ComponentOptions(Options):
    """A class or function by its dotted path, and the keys that go to it."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    component: str

    @property
    def arguments(self) -> dict[str, Any]:
        return dict(self.model_extra or {})
