"""The files in `data` were written by the tools themselves; long lists in them are cut. That of vLLM is made up, by the
source of its `benchmarks/serve.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.errors import DataError
from assay.history import History
from assay.history.importers import import_file
from assay.record import Outcome

DATA = Path(__file__).parent / "data"


def test_pyperf(tmp_path: Path) -> None:
    folder = import_file(DATA / "pyperf.json", tmp_path)
    [record] = folder.records()
    written = json.loads((DATA / "pyperf.json").read_text())
    values = [value for run in written["benchmarks"][0]["runs"] for value in run.get("values", [])]
    metric = record.metrics["time_s"]
    assert (record.name, metric.samples, metric.better, metric.unit) == ("timeit", tuple(values), "lower", "s")
    assert record.started_at.startswith("2026-11-15T20:39:11")
    assert folder.environment().cores == 2


def test_pytest_benchmark(tmp_path: Path) -> None:
    folder = import_file(DATA / "pytest_benchmark.json", tmp_path)
    first, second = folder.records()
    assert (first.name, second.name) == ("test_b.py::test_sum[10]", "test_b.py::test_sum[20]")
    assert len(first.metrics["time_s"].samples) == 8
    assert first.script_params == {"n": 10}
    assert first.script_metrics["extra.n"] == 10
    assert first.git_commit == "c" * 40


def test_hyperfine(tmp_path: Path) -> None:
    folder = import_file(DATA / "hyperfine.json", tmp_path)
    by_name = {record.name: record for record in folder.records()}
    assert by_name["true"].outcome is Outcome.PASSED
    assert by_name["sleep 0.01"].metrics["time_s"].value == pytest.approx(0.012694389)
    assert by_name["false"].outcome is Outcome.FAILED
    assert by_name["false"].reasons == ("3 of 3 runs exited with 1",)


def test_the_same_file_is_imported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["history", "--results-dir", str(tmp_path), "import", str(DATA / "hyperfine.json")]
    assert main(command) == main(command) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in printed] == ["3 new, 0 known", "0 new, 3 known"]
    assert main(["history", "--results-dir", str(tmp_path), "import", "--rebuild"]) == 0
    with History.beside(tmp_path) as history:
        assert {series.entry for series in history.series(metric="time_s")} == {"true", "sleep 0.01"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not valid JSON"),
        ("[]", "is not a file of pyperf, pytest-benchmark, hyperfine"),
        ('{"results": [{"command": "x", "times": [1, "2"]}]}', r"results\[0\]\.times holds '2', which is not a time"),
        ('{"results": []}', "it holds no benchmark"),
        ('{"results": [{"command": "x", "times": [NaN]}]}', "holds nan"),
        ('{"benchmarks": [{"runs": [{"values": []}]}]}', "is not a list of times"),
        ('{"benchmarks": [{"runs": 3}]}', "runs is not a list"),
        ('{"benchmarks": [{"runs": [], "metadata": {"unit": "byte"}}]}', "measured in 'byte'"),
        ('{"machine_info": {}, "benchmarks": [3]}', r"benchmarks\[0\] has no stats"),
    ],
)
def test_what_is_not_such_a_file(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        import_file(path, tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    paths = [str(bad), str(DATA / "pyperf.json")]
    assert main(["history", "--results-dir", str(tmp_path / "results"), "import", *paths]) == 2
    captured = capsys.readouterr()
    assert "1 new" in captured.out
    assert "bad.json: is not a file of" in captured.err
