from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sinks.sessions import Told, a_record

from assay.record import Outcome
from assay.sinks import check_spec
from assay.sinks.mlflow_sink import from_mlflow, to_mlflow

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mlflow")]
LONG = "m" * 400 + "/%"


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400))
def test_every_name_is_one_that_mlflow_takes_and_comes_back(name: str) -> None:
    from mlflow.utils.validation import _validate_metric_name

    mapped, tags = to_mlflow(name)
    _validate_metric_name(mapped)
    assert len(mapped) <= 250
    assert from_mlflow(mapped, tags) == name


@pytest.mark.parametrize("name", ["", "/", "//", "..", "a/../b", "./a", "a/", "% [x] = @ (y)", ":", ":25:", "é", LONG])
def test_names_that_mlflow_rejects(name: str) -> None:
    from mlflow.utils.validation import _validate_metric_name

    mapped, tags = to_mlflow(name)
    _validate_metric_name(mapped)
    assert from_mlflow(mapped, tags) == name


def test_a_session_read_back_through_the_api(tmp_path: Path, mlflow_port: int) -> None:
    from mlflow.tracking import MlflowClient

    uri = f"http://127.0.0.1:{mlflow_port}"
    told = Told(tmp_path, [{"name": "mlflow", "tracking_uri": uri, "experiment": "read-back"}])
    (told.folder.path / "artifacts").mkdir()
    (told.folder.path / "artifacts/pip-freeze.txt").write_text("numpy==2\n")
    (told.folder.path / "one.log").write_text("hello")
    metrics: dict[str, Any] = {
        "is_success": True,
        "rows/s [peak] (50%)": 7.5,
        LONG: 1,
        "..": 2,
        "nan": math.nan,
        "inf": math.inf,
        "word": "fast",
        "speed": {"value": 2.0, "unit": "1/s", "better": "higher", "samples": [1.0, 2.0, 3.0]},
    }
    told.run(a_record(1, script_metrics=metrics, stdouterr_file="one.log", script_params={"p": "x" * 9000, "a=b": 1}))
    told.run(a_record(2, outcome=Outcome.FAILED, reasons=("exit code 3",), repeat=2))
    [status] = told.end()
    assert status.state == "delivered", status

    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("read-back")
    runs = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert sorted(runs) == ["entry-1", "entry-2 run 2", "nightly"]
    parent, one, two = runs["nightly"], runs["entry-1"], runs["entry-2 run 2"]
    assert dict(status.links)["MLflow session"].endswith(
        f"/#/experiments/{experiment.experiment_id}/runs/{parent.info.run_id}"
    )
    assert {one.data.tags["mlflow.parentRunId"], two.data.tags["mlflow.parentRunId"]} == {parent.info.run_id}
    assert (one.info.status, two.info.status, parent.info.status) == ("FINISHED", "FAILED", "FAILED")
    assert two.data.tags["assay.reasons"] == "exit code 3"
    back = {from_mlflow(name, one.data.tags): value for name, value in one.data.metrics.items()}
    assert back["rows/s [peak] (50%)"] == 7.5
    assert back[LONG] == 1
    assert back[".."] == 2
    assert math.isnan(back["nan"])
    assert one.data.tags["assay.value.inf"] == "inf"
    assert one.data.tags["assay.value.word"] == "fast"
    history = client.get_metric_history(one.info.run_id, "samples/speed")
    assert [(point.step, point.value) for point in history] == [(0, 1.0), (1, 2.0), (2, 3.0)]
    assert len(one.data.params["p"]) == 6000
    assert one.info.end_time - one.info.start_time == 1500
    files = {file.path for file in client.list_artifacts(one.info.run_id)}
    assert files == {"result.json", "one.log"}
    assert {file.path for file in client.list_artifacts(parent.info.run_id)} >= {"env.json", "pip-freeze.txt"}
    result = json.loads(Path(client.download_artifacts(one.info.run_id, "result.json", str(tmp_path))).read_text())
    assert result["script_params"]["p"] == "x" * 9000
    assert parent.data.params["cpu_model"] == "Some CPU"
    assert parent.data.tags["assay.changes"] == "entry-1: 3% faster"


def test_a_local_database_needs_no_server(tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    uri = f"sqlite:///{tmp_path}/m.db"
    told = Told(tmp_path, [{"name": "mlflow", "tracking_uri": uri}])
    told.run(a_record(1))
    [status] = told.end()
    assert status.state == "delivered", status
    client = MlflowClient(uri)
    runs = client.search_runs([client.get_experiment_by_name("assay").experiment_id])
    assert len(runs) == 2
    assert list((tmp_path / "mlflow-artifacts").rglob("result.json"))


def test_what_cannot_work_is_said_in_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert "tracking_uri" in check_spec({"name": "mlflow"})[0]
    assert "sqlite:///" in check_spec({"name": "mlflow", "tracking_uri": "file:/tmp/x"})[0]
    wrong = check_spec({"name": "mlflow", "tracking_uri": "http://x", "experimnt": "y"})
    assert "did you mean 'experiment'?" in wrong[0]
