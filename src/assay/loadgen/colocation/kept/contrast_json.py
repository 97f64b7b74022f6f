from __future__ import annotations

from typing import Any

from assay.loadgen.colocation.kept.binned import edges, figures, histogram
from assay.loadgen.colocation.slowdown.answers import Floats
from assay.loadgen.colocation.slowdown.contrast import Contrast
from assay.loadgen.colocation.slowdown.slowdown import CONFIDENCE, Slowdown
from assay.loadgen.measured import Ints


def cells_json(contrast: Contrast) -> list[dict[str, Any]]:
    return [_cell(contrast, slowdown) for slowdown in contrast.slowdowns]


def _cell(contrast: Contrast, slowdown: Slowdown) -> dict[str, Any]:
    interval = slowdown.interval
    alone, beside = contrast.latencies if slowdown.stage is None else contrast.stages[slowdown.stage]
    return {
        "pipeline": contrast.pipeline,
        "beside": list(contrast.beside),
        "what": slowdown.what,
        "stage": slowdown.stage,
        "estimate": None if interval is None else interval.estimate,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "confidence": CONFIDENCE,
        "slower": slowdown.slower,
        "alone": _value(slowdown, slowdown.alone),
        "together": _value(slowdown, slowdown.beside),
        "unit": "1/s" if slowdown.what == "throughput" else "us",
        "seconds": contrast.seconds,
        "rounds": len(contrast.rounds),
        "queries_alone": len(alone),
        "queries_beside": len(beside),
        "reason": slowdown.reason,
    }


def _value(slowdown: Slowdown, ns: float | None) -> float | None:
    """The figure as people read it: answers a second for throughput, microseconds for times."""
    if ns is None:
        return None
    return 1e9 / ns if slowdown.what == "throughput" else ns / 1e3


def contrast_json(contrast: Contrast) -> dict[str, Any]:
    """A contrast with both sides over the same window, on the same bins."""
    common = edges(*contrast.latencies)
    bins = {stage: edges(*times) for stage, times in contrast.stages.items()}
    return {
        "pipeline": contrast.pipeline,
        "beside": list(contrast.beside),
        "rounds": len(contrast.rounds),
        "paired": contrast.paired,
        "reason": contrast.problem,
        "windows": [
            {"alone": _times(one.window_alone), "together": _times(one.window_beside)} for one in contrast.rounds
        ],
        **{
            name: {"latency": _side(contrast.latencies[side], common), "stages": _stages(contrast, side, bins)}
            for side, name in enumerate(("alone", "together"))
        },
    }


def _times(window: tuple[float, float]) -> dict[str, float]:
    return {"begin_t": window[0] / 1e9, "end_t": window[1] / 1e9}


def _side(values: Ints, at: Floats) -> dict[str, Any]:
    return {"count": len(values), **figures(values), "histogram": histogram(values, at)}


def _stages(contrast: Contrast, side: int, bins: dict[int, Floats]) -> list[dict[str, Any]]:
    total = sum(int(times[side].sum()) for times in contrast.stages.values()) or 1
    names = contrast.rounds[0].beside.result.stages if contrast.rounds else {}
    return [
        {
            "id": stage,
            "name": names[stage].name,
            "share": int(times[side].sum()) / total,
            **_side(times[side], bins[stage]),
        }
        for stage, times in contrast.stages.items()
    ]
