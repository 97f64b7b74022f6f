from __future__ import annotations

from pathlib import Path

import pytest
from tests.sinks.sessions import Told, a_record, wait_for
from tests.sinks.wandb_file import runs

from assay.record import Outcome
from assay.sinks import check_spec

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wandb")]
OFFLINE = {"name": "wandb", "mode": "offline", "project": "bench"}


def test_offline_files_hold_every_row(tmp_path: Path) -> None:
    told = Told(tmp_path, [OFFLINE])
    (told.folder.path / "one.log").write_text("hello")
    samples = [float(n) for n in range(300)]
    metrics = {"speed": {"value": 2.5, "unit": "1/s", "samples": samples}, "lag": {"value": 1, "samples": [7.0, 8.0]}}
    told.run(a_record(1, script_metrics={**metrics, "word": "fast"}, stdouterr_file="one.log"))
    told.run(a_record(2, outcome=Outcome.FAILED, repeat=2))
    [status] = told.end()
    assert status.state == "delivered", status
    one, two = sorted(runs(told.folder.path), key=lambda run: run.name)
    assert (one.name, one.group, one.project, one.exit_code) == ("entry-1", "nightly", "bench", 0)
    assert (two.name, two.exit_code) == ("entry-2 run 2", 1)
    rows = [{key: value for key, value in row.items() if not key.startswith("_")} for row in one.history]
    assert [row["speed"] for row in rows] == samples
    assert [row["lag"] for row in rows if "lag" in row] == [7.0, 8.0]
    assert one.summary["speed"] == 2.5
    assert one.summary["word"] == "fast"
    assert one.summary["exec_time_s"] == 1.5
    assert one.summary["outcome"] == "passed"
    assert one.config["size"] == 1
    assert one.config["assay"]["environment"]["cpu_model"] == "Some CPU"
    assert sorted(one.artifacts) == ["one.log", "result.json"]


def test_killed_while_writing_there_is_one_run_of_each_entry(tmp_path: Path) -> None:
    told = Told(tmp_path, [OFFLINE])
    told.run(a_record(1))
    wait_for(lambda: list(told.folder.path.glob("wandb/offline-run-*/run-*.wandb")))
    worker = told.delivery._worker
    assert worker is not None
    worker.kill()
    worker.wait()
    told.run(a_record(2))
    told.finish()
    [status] = told.flush(tries=3)
    assert status.state == "delivered", status
    found = runs(told.folder.path)
    assert sorted(run.name for run in found) == ["entry-1", "entry-2"]
    assert {run.exit_code for run in found} == {0}


def test_a_service_that_is_down_is_pending_and_can_be_delivered_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "a" * 40)
    spec = {"name": "wandb", "mode": "online", "base_url": "http://127.0.0.1:9"}
    told = Told(tmp_path, [spec])
    told.run(a_record(1))
    [status] = told.end(wait_s=12)
    assert status.pending
    assert "a" * 40 not in status.reason
    again = Told(tmp_path, [OFFLINE])
    [status] = again.end()
    assert status.state == "delivered", status
    assert [run.name for run in runs(told.folder.path)] == ["entry-1"]
    assert not [path for path in (told.folder.path / "outbox").rglob("*") if b"a" * 40 in path.read_bytes()]


def test_what_cannot_work_is_said_in_the_plan() -> None:
    assert check_spec({"name": "wandb", "mode": "ofline"}) == ["mode: 'ofline' is neither online nor offline"]
