from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from assay.benchmarks.weights.orchestration.settings import SuiteSettings
from assay.benchmarks.weights.orchestration.store_kind import store_kind
from assay.benchmarks.weights.scenarios.case_verdict import CaseVerdict
from assay.benchmarks.weights.scenarios.chain import differences


def judge_merge(store: str, path: Path, settings: SuiteSettings) -> list[CaseVerdict]:
    """Two branches change different tensors and are merged; stores that cannot merge have no such case."""
    opened: Any
    with store_kind(store, settings).use(path) as opened:
        if not hasattr(opened, "merge"):
            return []
        rng = np.random.default_rng(0)
        base = {name: rng.standard_normal(2000, dtype=np.float32) for name in ("a", "b", "c")}
        opened.commit(base, "base")
        home = opened.head
        opened.branch("other")
        ours = {**base, "a": base["a"] + np.float32(1e-3)}
        opened.commit(ours, "ours")
        opened.switch("other")
        theirs = {**base, "b": base["b"] * np.float32(1.01), "d": base["a"][:10].copy()}
        opened.commit(theirs, "theirs")
        opened.switch(home)
        merged = opened.merge("other")
        expected = {**ours, "b": theirs["b"], "d": theirs["d"]}
        wrong = differences(expected, opened.load(merged if isinstance(merged, str) else home))
        size = sum(tensor.size for tensor in expected.values())
        return [CaseVerdict("merge", path, (), tuple(wrong), (), size, size if wrong else 0)]
