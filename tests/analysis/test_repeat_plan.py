from __future__ import annotations

import numpy as np
from tests.analysis.records import record

from assay.analysis.judgement import repeat_plan
from assay.record import Record


def _runs(within: float, between: float) -> list[Record]:
    rng = np.random.default_rng(0)
    made = []
    for run in range(1, 13):
        samples = 1 + rng.normal(0, between) + rng.normal(0, within, 40)
        made.append(record(metrics={"step": {"value": 1.0, "unit": "ms", "samples": samples.tolist()}}, run=run))
    return made


def test_repeats_go_where_the_variance_is() -> None:
    inside, outside = repeat_plan(_runs(0.10, 0.005), "step"), repeat_plan(_runs(0.01, 0.10), "step")
    assert inside is not None
    assert outside is not None
    assert inside.iterations > 10 * outside.iterations
    assert outside.runs > inside.runs
    assert "between runs" in str(outside)
    assert "within runs" in str(inside)


def test_without_iterations_there_is_nothing_to_plan() -> None:
    assert repeat_plan([record(metrics={"step": 1.0}, run=i) for i in (1, 2)], "step") is None
    assert repeat_plan(_runs(0.1, 0.1)[:1], "step") is None
