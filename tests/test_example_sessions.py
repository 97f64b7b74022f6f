"""Every configuration under examples/ runs as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from workplace import Workplace

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quickstart", "simple", "datasets", "production", "serving"])
def test_a_session_of_the_examples_runs(workplace: Workplace, name: str) -> None:
    answer = workplace.assay("run", "--config", str(EXAMPLES / f"{name}.yaml"))
    assert answer.code == 0, answer.out + answer.err
    assert all(record.success for record in workplace.sessions()[-1].records())


@pytest.mark.slow
def test_the_older_form_of_the_examples_runs(workplace: Workplace) -> None:
    data = "results/example-data"
    assert workplace.assay("data", "documents", data, "--documents", "2000", "--seed", "7").code == 0
    files = ["--matrix", str(EXAMPLES / "nightly_matrix.yaml"), "--datasets", str(EXAMPLES / "dataset_paths.json")]
    answer = workplace.assay("run", *files)
    assert answer.code == 0, answer.out + answer.err
    records = workplace.records()
    assert records["removal_local"].script_metrics["num_removed"] > 0
    assert set(records) == {"removal_local", "removal_two_workers"}


@pytest.mark.parametrize("name", ["nightly-benchmark.yaml"])
def test_the_nightly_file_can_be_planned(workplace: Workplace, name: str) -> None:
    answer = workplace.assay("plan", "--config", str(EXAMPLES.parent / name))
    assert answer.code == 0, answer.out + answer.err
    assert "alm_pipeline_xenna" in answer.out
    assert "alm_pipeline_local" in answer.out
