from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from assay.record import Metric
from assay.sinks.mlflow.mlflow_name import to_mlflow

# MLflow's limits for one call, and for one value.
_PARAMS, _METRICS, _PARAM_LENGTH, _TAG_LENGTH = 100, 500, 6000, 8000
# A series longer than this is thinned out evenly; all of it is in result.json.
_POINTS = 5000
_GOES_ON = "… (all of it: result.json)"


class MlflowRun:
    """Parameters, metrics and tags of any name and size, put into one run within MLflow's limits."""

    def __init__(self, client: Any, run_id: str) -> None:
        self._client = client
        self._run_id = run_id

    def log(
        self,
        params: Mapping[str, Any] | None = None,
        metrics: Iterable[Metric] = (),
        tags: Mapping[str, str] | None = None,
        values: Mapping[str, float] | None = None,
        at_ms: int = 0,
    ) -> None:
        from mlflow.entities import Metric as Point
        from mlflow.entities import Param, RunTag

        points: list[Any] = []
        labels: dict[str, str] = {}
        for name, value in (values or {}).items():
            points.append(Point(name, float(value), at_ms, 0))
        for metric in metrics:
            name, more = to_mlflow(metric.name)
            labels |= more
            number = float(metric.value) if isinstance(metric.value, bool | int | float) else None
            if number is None or math.isinf(number):
                # MLflow would store an infinity as the largest number there is.
                labels[to_mlflow(f"assay.value.{metric.name}")[0]] = str(metric.value)
            else:
                points.append(Point(name, number, at_ms, 0))
            if metric.unit:
                labels[to_mlflow(f"assay.unit.{metric.name}")[0]] = metric.unit
            series, more = to_mlflow(f"samples/{metric.name}")
            labels |= more if metric.samples else {}
            stride = max(1, math.ceil(len(metric.samples) / _POINTS))
            points += [
                Point(series, sample, at_ms, step)
                for step, sample in islice(enumerate(metric.samples), 0, None, stride)
                if not math.isinf(sample)
            ]
        given = []
        for name, value in (params or {}).items():
            shown, more = to_mlflow(str(name))
            labels |= more
            given.append(Param(shown, _cut(str(value), _PARAM_LENGTH)))
        labels |= tags or {}
        marks = [RunTag(name, _cut(value, _TAG_LENGTH)) for name, value in labels.items()]
        self._send(points, given, marks)

    def _send(self, points: list[Any], params: list[Any], tags: list[Any]) -> None:
        while points or params or tags:
            self._client.log_batch(
                self._run_id, metrics=points[:_METRICS], params=params[:_PARAMS], tags=tags[:_PARAMS]
            )
            points, params, tags = points[_METRICS:], params[_PARAMS:], tags[_PARAMS:]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - len(_GOES_ON)] + _GOES_ON
