from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.errors import UsageError
from assay.names import load, quote, unknown
from assay.stages.pytorch.device import define_torchvision_operators, library


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


def component(path: str, extra: str) -> Any:
    """What a dotted path of a library's leads to (`torch.optim.AdamW`), or a ValueError that says it leads nowhere."""
    root = path.partition(".")[0]
    if root in ("torch", "torchvision", "torchtune", "transformers", "timm"):
        library(root, extra)
    # What a user's own module imports may look for torchvision too.
    define_torchvision_operators()
    found = load(path)
    if found is None:
        raise ValueError(f"nothing is at {quote(path)}")
    return found


def build_component(block: str, options: ComponentOptions, extra: str, *given: Any) -> Any:
    """An optimiser or loss: its class called with what is given and then the keys of its block.

    What is wrong is said in the words of the configuration, in which `block` is its name.
    """
    try:
        kind = component(options.component, extra)
    except ValueError as error:
        raise UsageError(f"{block}.component: {error}") from None
    if not callable(kind):
        raise UsageError(f"{block}.component: {options.component} is neither a class nor a function")
    parameters = inspect.signature(kind).parameters
    known = list(parameters)[len(given) :]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        for key in options.arguments:
            if key not in known:
                raise UsageError(f"{block}: {unknown('key', key, known, of=options.component)}")
    try:
        return kind(*given, **options.arguments)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{block}: {options.component}: {error}") from None


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
