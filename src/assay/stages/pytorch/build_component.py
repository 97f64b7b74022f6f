from __future__ import annotations

import inspect
from typing import Any

from assay.errors import UsageError
from assay.names import unknown
from assay.stages.pytorch.component import component
from assay.stages.pytorch.options import ComponentOptions


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
