"""torchtune 0.6.1, made to import beside a torchao that is newer than it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from assay.errors import UsageError
from assay.names import load
from assay.stages.pytorch.components import ComponentOptions, component
from assay.stages.pytorch.device import library, quiet

_GONE_FROM_TORCHAO = ("int4_weight_only", "int8_dynamic_activation_int4_weight")
"""torchtune.training imports them though only its quantizers call them; peft refuses the torchao that has them."""
_OLDER_PLACES = ("torchtune.utils.", "torchtune.modules.")
"""Where older versions kept what is now in torchtune.training."""


def torchtune(module: str = "torchtune") -> Any:
    """A module of it, or one message with the command that installs it."""
    library("torchao", "torchtune")
    quantization = library("torchao.quantization", "torchtune")
    for name in _GONE_FROM_TORCHAO:
        if not hasattr(quantization, name):
            setattr(quantization, name, _refusing(name))
    library("torchtune", "torchtune")
    return library(module, "torchtune")


def current_path(path: str) -> str:
    """Where torchtune 0.6.1 keeps what a configuration names by the place that it had in an older version."""
    if not path.startswith("torchtune."):
        return path
    torchtune("torchtune.training")
    for older in _OLDER_PLACES:
        newer = f"torchtune.training.{path.removeprefix(older)}"
        with quiet():
            if path.startswith(older) and load(path) is None and load(newer) is not None:
                return newer
    return path


def current(options: ComponentOptions) -> ComponentOptions:
    return ComponentOptions(component=current_path(options.component), **options.arguments)


def takes(path: str, argument: str, needed: bool = False) -> bool:
    """Whether what is at a path has an argument of that name; with `needed`, one without a default."""
    try:
        found = inspect.signature(component(path, "torchtune")).parameters.get(argument)
    except (TypeError, ValueError):
        return False  # Who builds it says what is wrong with it.
    return found is not None and (not needed or found.default is found.empty)


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise UsageError(f"torchtune quantizes through torchao's {name}, which the installed torchao no longer has")

    return refuse
