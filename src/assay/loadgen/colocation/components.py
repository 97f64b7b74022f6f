from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeVar

from assay.errors import AssayError
from assay.fallback.loading import loading_user_code
from assay.loadgen.colocation.policies.policy import Policy
from assay.loadgen.schedulers import LoadScheduler
from assay.loadgen.schedulers.registry import SCHEDULERS as SCHEDULERS
from assay.names import Registry, list_names, unknown
from assay.pipeline.run_stage import RunStage
from assay.pipeline.stage import Stage

T = TypeVar("T")

POLICIES: Registry[Policy] = Registry(
    "policy",
    Policy,  # type: ignore[type-abstract]
    {
        "all_at_once": "assay.loadgen.colocation.policies.all_at_once.AllAtOnce",
        "latency_first": "assay.loadgen.colocation.policies.latency_first.LatencyFirst",
    },
)

STAGES: Registry[Stage[Any, Any]] = Registry(
    "stage",
    Stage,  # type: ignore[type-abstract]
    {
        "busy_cpu": "assay.stages.synthetic.BusyCpu",
        "cache_thrash": "assay.stages.synthetic.CacheThrash",
        "disk": "assay.stages.synthetic.Disk",
        "memory_bandwidth": "assay.stages.synthetic.MemoryBandwidth",
        "no_op": "assay.stages.synthetic.NoOp",
        "pass_through": "assay.stages.synthetic.PassThrough",
        "payload_copy": "assay.stages.synthetic.PayloadCopy",
        "samples": "assay.stages.synthetic.Samples",
        "sleep": "assay.stages.synthetic.Sleep",
        "stages.Stage": "assay.stages.synthetic.PassThrough",
        "stages.stage.Stage": "assay.stages.synthetic.PassThrough",
        "stream": "assay.stages.synthetic.Stream",
    },
)


class BadArguments(AssayError):
    """`key` is the argument at fault; None where it is all of them together."""

    def __init__(self, message: str, key: str | None = None) -> None:
        self.key = key
        super().__init__(message)


def construct(component: type[T], arguments: Mapping[str, Any], called: str = "") -> T:
    """An instance, or what is wrong with the arguments, in words of the configuration; `called`: the class there, where
    it may have another name than its own."""
    need_complete(component)
    called = called or component.__name__
    parameters = inspect.signature(component).parameters
    if issubclass(component, RunStage) and _takes_config(parameters):
        arguments = {"config": dict(arguments)}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        for name in arguments:
            if name not in parameters:
                raise BadArguments(f"{called}: {unknown('key', name, parameters)}", name)
    for name, parameter in parameters.items():
        required = parameter.default is parameter.empty and parameter.kind in (
            parameter.POSITIONAL_OR_KEYWORD,
            parameter.KEYWORD_ONLY,
        )
        if required and name not in arguments:
            raise BadArguments(f"{called}: {name} is missing")
    try:
        with loading_user_code():
            return component(**arguments)
    except AssayError as error:
        raise BadArguments(str(error)) from None
    except (TypeError, ValueError) as error:
        raise BadArguments(f"{called}: {error}") from None


def need_complete(component: type[Any]) -> None:
    """A class that lacks what its base asks for cannot be made."""
    if not inspect.isabstract(component):
        return
    base = next(base for base in (LoadScheduler, Policy, RunStage, Stage) if issubclass(component, base))
    asked = list_names(sorted(component.__abstractmethods__))
    raise BadArguments(f"{component.__name__} does not define {asked}, which {base.__name__} of Assay asks for")


def _takes_config(parameters: Mapping[str, inspect.Parameter]) -> bool:
    """Whether the constructor takes all keys together, as a parameter `config`. If that has a default and `**keys`
    stands beside it, they come one by one."""
    config = parameters.get("config")
    required = config is not None and config.default is config.empty
    return config is not None and (required or not any(p.kind is p.VAR_KEYWORD for p in parameters.values()))
