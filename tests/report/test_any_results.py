"""Whatever a program writes into its results, the report is written: hypothesis makes them up."""

from __future__ import annotations

import os
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_factory import START, MadeRun, make_session

from assay.history import History
from assay.record import TaskPerf
from assay.report.html import render_report
from assay.report.markdown import session_markdown
from assay.report.text.session import session_summary

EXAMPLES = int(os.environ.get("ASSAY_EXAMPLES", "25"))
NUMBERS = st.integers() | st.floats() | st.just(10**400)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text(max_size=12)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
NAMES = st.text(max_size=8) | st.sampled_from(
    [
        "rate",
        "p50",
        "slowdown.a.beside.b.p99",
        "a.b.c",
        "a.c.c",
        "is_success",
        "exec_time_s",
        "usage.cpu_s",
        "x.p99.9_s",
    ]
)
WRITTEN = st.fixed_dictionaries(
    {"value": VALUES}, optional={"unit": LEAVES, "better": LEAVES, "samples": st.lists(NUMBERS, max_size=30) | LEAVES}
)
METRICS = st.dictionaries(NAMES, VALUES | WRITTEN, max_size=6)
TASKS = st.lists(
    st.builds(TaskPerf, st.text(max_size=6), st.dictionaries(st.just("process_time"), st.floats())), max_size=4
)


@pytest.mark.slow
@settings(
    max_examples=int(os.environ.get("ASSAY_EXAMPLES", "25")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(metrics=METRICS, tasks=TASKS, log=st.text(max_size=40))
def test_everything_is_shown(metrics: dict[str, Any], tasks: list[TaskPerf], log: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = log.encode("utf-8", "replace").decode()
        runs = [MadeRun("e", metrics, tasks=tuple(tasks), repeat=r, repeats=2, log=log) for r in (1, 2)]
        before = make_session(Path(folder), runs, name="before", started=START - timedelta(days=1))
        session = make_session(Path(folder), runs)
        with History.beside(Path(folder)) as history:
            history.add_session(before)
            history.add_session(session)
            assert "</html>" in render_report(session, history=history)
            assert session_markdown(session, history=history).startswith("# ")
        assert "passed" in session_summary(session)
