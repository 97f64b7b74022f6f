from __future__ import annotations

import pytest

from assay.compat.stand_ins import FINDER, STAND_INS
from assay.compat.user_code import advice, describe_used

STAGE = (
    "Assay's own: `from assay.pipeline import RunStage as Stage`, `from assay.pipeline.run_stage import log_phase`, "
    "`from assay.pipeline.run_stage import log_phase_single`"
)
INSTALL = "install nemo_curator into the interpreter that runs this, or use one that has it"


@pytest.mark.parametrize(
    ("error", "what"),
    [
        ("No module named 'nemo_curator'", "Assay's own: `from assay import Task`, `from assay import TaskPerfUtils`"),
        ("No module named 'nemo_curator.tasks.utils'", "Assay's own: `from assay import TaskPerfUtils`"),
        ("No module named 'runner.sinks.sink'", "Assay's own: `from assay.sinks import Sink`"),
        ("No module named 'stages.stage'", STAGE),
        ("No module named 'benchmarks.base'", "Assay's own: `from assay.benchmarks.weights import BenchmarkSuite`"),
        ("No module named 'loguru'", INSTALL.replace("nemo_curator", "loguru")),
        ("No module named 'nemo_curator.pipeline': it is not installed, and Assay stands in only for", INSTALL),
        ("nemo_curator.tasks is not installed, and Assay's Task cannot stand in: it needs Python 3.11", INSTALL),
        ("cannot import name 'X' from 'nemo_curator.tasks' (/…/assay/compat/stand_ins.py)", INSTALL),
        (
            "cannot import name 'LoadScheduler' from 'loadgen.schedulers' (unknown location)",
            "Assay's own: `from assay.loadgen import LoadScheduler`",
        ),
        ("cannot import name 'Mine' from 'loadgen.schedulers' (unknown location)", ""),
        # Of packages that are installed, and of other people's, there is nothing to say.
        ("cannot import name 'X' from 'nemo_curator.tasks' (/site-packages/nemo_curator/tasks.py)", ""),
        ("No module named 'nemo_curator.pipeline'", ""),
        ("No module named 'stages.helpers'", ""),
        ("No module named 'numpy'", ""),
        ("it is not a module named anything", ""),
        ("", ""),
    ],
)
def test_a_failed_import_is_answered_with_what_to_do(error: str, what: str) -> None:
    assert advice(error) == what


def test_what_stood_in_is_one_line() -> None:
    assert describe_used([]) == ""
    assert describe_used(["loguru", "loguru"]) == "loguru: not found, so Assay's own stood in for it"
    assert describe_used(["b.c", "a"]) == "a, b.c: not found, so Assay's own stood in for them"


@pytest.mark.parametrize("module", STAND_INS)
def test_every_stand_in_is_there(module: str) -> None:
    spec = FINDER.find_spec(module.partition(".")[0])
    assert spec is not None
    from importlib import import_module

    for where, name in STAND_INS[module].values():
        assert getattr(import_module(where), name) is not None
