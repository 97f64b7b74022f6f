from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from assay.loadgen.result import LoadResult
from assay.record.metric import Metric


def stage_metrics(pipeline: str, result: LoadResult) -> Iterator[Metric]:
    """What stages say of their own work, as `pipeline.stage.figure`; stages of the same name are told apart by id."""
    words = {id: _word(stage.name) for id, stage in result.stages.items()}
    often = Counter(words.values())
    for id, report in result.reports.items():
        word = words[id] if words[id] and often[words[id]] == 1 else f"{words[id] or 'stage'}-{id}"
        yield from (replace(metric, name=f"{pipeline}.{word}.{metric.name}") for metric in report.metrics)


def _word(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name).strip("-")
