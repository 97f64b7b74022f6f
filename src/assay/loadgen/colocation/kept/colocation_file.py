from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from assay.loadgen.colocation.build import build_scheduler
from assay.loadgen.colocation.config import ColocationConfig, PipelineConfig
from assay.loadgen.colocation.kept.contrast_json import cells_json, contrast_json
from assay.loadgen.colocation.kept.run_json import run_json
from assay.loadgen.colocation.rates.rates_tried import RatesTried
from assay.loadgen.colocation.running.colocated_run import ColocatedRun
from assay.loadgen.colocation.slowdown.contrast import Contrast
from assay.record.writing.strict_json import encode
from assay.untrusted.writing import write_atomic

VERSION = 2
FILE_NAME = "colocation.json"

Kind = Literal["together", "matrix", "rates"]


def write_colocation(
    folder: Path,
    config: ColocationConfig,
    kind: Kind,
    runs: Sequence[ColocatedRun],
    contrasts: Sequence[Contrast] = (),
    rates: RatesTried | None = None,
) -> None:
    written = {
        "version": VERSION,
        "name": config.name,
        "kind": kind,
        "policy": None if config.policy is None else config.policy.component,
        "pipelines": [_pipeline(pipeline) for pipeline in config.pipelines],
        "runs": [run_json(run) for run in runs],
        "cells": [cell for contrast in contrasts for cell in cells_json(contrast)],
        "contrasts": [contrast_json(contrast) for contrast in contrasts],
        "rates": None if rates is None else rates.to_json(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / FILE_NAME, encode(_finite(written)))


def _pipeline(pipeline: PipelineConfig) -> dict[str, Any]:
    scheduler = build_scheduler(pipeline)
    return {
        "name": pipeline.name,
        "loop": "open" if scheduler.concurrency is None else "closed",
        "asked_rate": scheduler.rate,
        "until": pipeline.until,
        "objectives": [objective.model_dump(mode="json") for objective in pipeline.objectives],
        "stages": [
            {"id": stage.id, "name": stage.name or stage.component.rpartition(".")[2]} for stage in pipeline.stages
        ],
    }


def _finite(value: Any) -> Any:
    """The value with null for what was not measured: readers of other languages know no NaN."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
