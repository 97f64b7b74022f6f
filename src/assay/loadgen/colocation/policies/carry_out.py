from __future__ import annotations

from time import monotonic_ns
from typing import Any

from assay.loadgen.colocation.accelerators.device import NoSuchDevice, find_device
from assay.loadgen.colocation.config import PipelineConfig
from assay.loadgen.colocation.limits import limits_problem
from assay.loadgen.colocation.policies.request import Request
from assay.loadgen.colocation.running.pipeline_process import PipelineProcess
from assay.process.usage.processors import processors_problem


def plan(request: Request, pipeline: PipelineConfig) -> tuple[PipelineConfig, str]:
    """The pipeline as asked for, before its processes are started; and why not, where it was refused. A delay is not
    done here: the release keeps it."""
    refused = ""
    update: dict[str, Any] = {}
    if request.action == "place":
        update = {"cpus": request.cpus or pipeline.cpus, "device": request.device or pipeline.device}
        refused = processors_problem(update["cpus"]) or _device_problem(update["device"])
    elif request.action == "resize":
        update = {"limits": request.merge_limits(pipeline.limits)}
        refused = limits_problem()
    elif request.action in ("pause", "resume"):
        refused = "it has not started yet; it can be delayed"
    return (pipeline if refused else pipeline.model_copy(update=update)), refused


def _device_problem(device: str | None) -> str:
    try:
        find_device(device)
    except NoSuchDevice as error:
        return str(error)
    return ""


def carry_out(request: Request, process: PipelineProcess) -> str | None:
    """Does to a running pipeline what was asked. Returns an empty text when it was done, why it was refused, or None
    where there was nothing to do: it is so already, or the pipeline has ended."""
    if process.condition == "ended":
        return None
    try:
        return _DO[request.action](request, process)
    except OSError as error:
        return f"the system refuses: {error.strerror or error}"


def _start(request: Request, process: PipelineProcess) -> str | None:
    if process.condition != "waiting" or process.released:
        return None
    process.start(monotonic_ns())
    return ""


def _delay(request: Request, process: PipelineProcess) -> str | None:
    if process.released:
        return "it has started already; it can be paused"
    process.start(None if request.seconds is None else monotonic_ns() + int(request.seconds * 1e9))
    return ""


def _pause(request: Request, process: PipelineProcess) -> str | None:
    if process.condition == "paused" or process.stopping:
        return None
    if process.condition != "running":
        return "it has not started yet; it can be delayed"
    process.pause.begin()
    return ""


def _resume(request: Request, process: PipelineProcess) -> str | None:
    if process.condition != "paused":
        return None
    process.pause.end()
    return ""


def _place(request: Request, process: PipelineProcess) -> str | None:
    if request.device is not None:
        return "a device can be given only before the pipelines are started, in `begin`"
    cpus = request.cpus or ()
    if process.cpus == cpus:
        return None
    if problem := processors_problem(cpus):
        return problem
    process.place(cpus)
    return ""


def _resize(request: Request, process: PipelineProcess) -> str | None:
    merged = request.merge_limits(process.limits)
    if process.limits == merged:
        return None
    if problem := limits_problem():
        return problem
    process.resize(merged)
    return ""


_DO = {"start": _start, "delay": _delay, "pause": _pause, "resume": _resume, "place": _place, "resize": _resize}
