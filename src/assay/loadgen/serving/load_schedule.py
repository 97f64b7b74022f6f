from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import UsageError
from assay.loadgen.measured import Ints
from assay.loadgen.schedulers import LoadScheduler
from assay.loadgen.schedulers.drawn import draw
from assay.loadgen.schedulers.registry import SCHEDULERS
from assay.loadgen.serving.load_asked import LoadAsked
from assay.loadgen.serving.load_settings import LoadSettings

_ENDLESS = 10_000_000
"""Requests at most of a closed loop that only a duration ends."""


@dataclass(frozen=True)
class LoadSchedule:
    """When requests are sent: at times known before the start, or when a place in flight is free."""

    asked: LoadAsked
    at_ns: Ints | None
    count: int
    in_flight: int | None
    grouped: bool = False

    @classmethod
    def of(cls, settings: LoadSettings, trace_ns: Ints | None) -> LoadSchedule:
        """`trace_ns`: times that the prompts bring with them; they hold unless a load of another kind is asked for."""
        settings = settings if trace_ns is not None else settings.with_end()
        own = settings.rate is None and settings.scheduler in (None, "trace") and trace_ns is not None
        if own and trace_ns is not None:
            return _of_trace(settings, trace_ns)
        name, scheduler = build_scheduler(settings)
        limits = (settings.requests, None if settings.duration_s is None else int(settings.duration_s * 1e9))
        if scheduler.concurrency is not None:
            asked = _make_load_asked(settings, name, scheduler.rate, scheduler.concurrency, "closed")
            return cls(asked, None, settings.requests or _ENDLESS, scheduler.concurrency, scheduler.grouped)
        try:
            at = draw(scheduler, settings.seed, *limits)
        except (TypeError, ValueError) as error:
            raise UsageError(f"--scheduler {settings.scheduler}: {error}") from None
        if not len(at):
            raise UsageError("no request would be sent in that time: give a longer --duration or a higher --rate")
        asked = _make_load_asked(settings, name, scheduler.rate, settings.concurrency, "open")
        return cls(asked, at, len(at), settings.concurrency)


def build_scheduler(settings: LoadSettings) -> tuple[str, LoadScheduler]:
    name, given = _read_scheduler(settings)
    component = SCHEDULERS.find(name)
    takes = inspect.signature(component).parameters
    for option, value in (("rate", settings.rate), ("concurrency", settings.concurrency)):
        if value is not None and option in takes:
            given.setdefault(option, value)
    if "streams" in takes and settings.concurrency is not None:
        given.setdefault("streams", settings.concurrency)
    if settings.rate is not None and "rate" not in takes:
        raise UsageError(f"--rate: the load scheduler {name} has none; leave one of the two out")
    if settings.scheduler is None:
        return name, component(**given)
    from assay.loadgen.colocation.components import BadArguments, construct  # what it imports delays a start

    try:
        return name, construct(component, given)
    except BadArguments as error:
        raise UsageError(f"--scheduler {settings.scheduler or name}: {error}") from None


def _read_scheduler(settings: LoadSettings) -> tuple[str, dict[str, Any]]:
    words = settings.scheduler
    if words is None:
        if settings.rate is not None:
            return "poisson", {}
        return "concurrent", {"concurrency": settings.concurrency or 1}
    if words.startswith("{"):
        try:
            written = json.loads(words)
            return str(written["component"]), dict(written.get("config") or {})
        except (ValueError, KeyError, TypeError):
            raise UsageError(f'--scheduler {words!r}: must be {{"component": NAME, "config": {{…}}}}') from None
    import yaml  # a start without --scheduler does not pay for it

    name, _, rest = words.partition(":")
    given = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"--scheduler {words!r}: write NAME:KEY=VALUE,KEY=VALUE")
        given[key.strip()] = yaml.safe_load(value)
    return name, given


def _of_trace(settings: LoadSettings, trace_ns: Ints) -> LoadSchedule:
    at = (trace_ns / settings.trace_speed).astype(np.int64)
    if settings.duration_s is not None:
        at = at[at < settings.duration_s * 1e9]
    at = at[: settings.requests]
    if not len(at):
        raise UsageError("no request of the trace falls into that time: give a longer --duration")
    rate = (len(at) - 1) / (int(at[-1]) / 1e9) if len(at) > 1 and at[-1] > 0 else None
    return LoadSchedule(
        _make_load_asked(settings, "trace", rate, settings.concurrency, "open"), at, len(at), settings.concurrency
    )


def _make_load_asked(
    settings: LoadSettings, name: str, rate: float | None, concurrency: int | None, loop: Any
) -> LoadAsked:
    return LoadAsked(
        name, rate, concurrency, settings.requests, settings.duration_s, settings.seed, loop, settings.objectives
    )
