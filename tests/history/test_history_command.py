from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from history_rows import fill

from assay.cli.main import main
from assay.history import History


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_RESULTS_DIR", str(tmp_path))
    with History.beside(tmp_path) as history:
        fill(history, sessions=4, entries=2, metrics=1)
    return tmp_path


def test_lists_series(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["entry", "metric", "values", "latest", "at", "better", "fingerprint"]
    assert len(lines) == 1 + 2 * 4
    assert main(["history", "list", "--entry", "entry-001", "--metric", "metric_00"]) == 0
    [_, line] = capsys.readouterr().out.splitlines()
    assert line.split()[:3] == ["entry-001", "metric_00", "4"]


def test_shows_a_trend(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "show", "entry-000", "metric_00", "--last", "3"]) == 0
    printed = capsys.readouterr().out
    assert "lower is better · 3 of 4 values" in printed
    assert printed.count("nightly-run__") == 3
    assert main(["history", "show", "entry-000", "nothing"]) == 2
    assert "(known: exec_time_s, metric_00, usage.cpu_s" in capsys.readouterr().err


def test_exports_csv_and_parquet_with_the_same_rows(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "export", "-"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 4 * 2 * 4
    assert main(["history", "export", str(results / "all.parquet")]) == 0
    assert main(["history", "export", str(results / "all.csv")]) == 0
    table = pq.read_table(results / "all.parquet").to_pylist()
    assert [(r["run_id"], r["metric"], str(r["value"])) for r in table] == [
        (r["run_id"], r["metric"], r["value"]) for r in rows
    ]
    assert main(["history", "export", str(results / "all.xls")]) == 2
    assert "must end in .csv or .parquet" in capsys.readouterr().err


def test_nothing_there_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--results-dir", str(tmp_path)]) == 2
    assert "there is no history at" in capsys.readouterr().err
    assert main(["history", "--results-dir", str(tmp_path), "import"]) == 2
    assert "holds no session folder" in capsys.readouterr().err


@pytest.mark.slow
def test_a_damaged_history_stops_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "history.sqlite").write_bytes(b"no database" * 1000)
    assert main(["run", "--runs", "1", "--results-dir", str(tmp_path), "--", "true"]) == 0
    captured = capsys.readouterr()
    assert "the history cannot be used" in captured.out + captured.err
    assert main(["history", "--results-dir", str(tmp_path), "import", "--rebuild"]) == 0
    assert "1 new" in capsys.readouterr().out
