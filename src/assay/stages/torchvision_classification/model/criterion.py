from __future__ import annotations

import inspect
from typing import Any

from assay.errors import UsageError
from assay.names import unknown
from assay.stages.pytorch.component import component
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.options import ComponentOptions


def build_criterion(options: ComponentOptions) -> Any:
    """The loss, or what is wrong in the words of the configuration."""
    nn = library("torch.nn", "vision")
    try:
        kind = component(options.component, "vision")
    except ValueError as error:
        raise UsageError(f"criterion.component: {error}") from None
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        raise UsageError(
            f"criterion.component: {options.component} is no class of a loss, as torch.nn.CrossEntropyLoss is"
        )
    known = list(inspect.signature(kind).parameters)
    for key in options.arguments:
        if key not in known:
            raise UsageError(f"criterion: {unknown('key', key, known, of=options.component)}")
    try:
        return kind(**options.arguments)
    except (TypeError, ValueError) as error:
        raise UsageError(f"criterion: {options.component}: {error}") from None
