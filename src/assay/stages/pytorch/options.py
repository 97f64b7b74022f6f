from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, get_args

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
            return f"{'.'.join([block, *path[:-1]])}: {unknown('key', path[-1], cls._known(path[:-1]))}"
        if problem["type"] == "missing":
            return f"{where} is missing"
        if problem["type"] == "value_error":
            return f"{where}: {problem['ctx']['error']}"
        return f"{where}: {problem['msg']}, not {problem['input']!r}"

    @classmethod
    def _known(cls, path: Sequence[str]) -> Iterable[str] | None:
        """Keys of the block that the path leads to; None where they cannot be told."""
        if not path:
            return cls.model_fields
        field = cls.model_fields.get(path[0])
        kinds = () if field is None else (field.annotation, *get_args(field.annotation))
        inner = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Options)), None)
        return None if inner is None else inner._known(path[1:])


class ComponentOptions(Options):
    """A class or function by its dotted path, and the keys that go to it."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    component: str

    @property
    def arguments(self) -> dict[str, Any]:
        return dict(self.model_extra or {})
