from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.errors import UsageError
from assay.record import Metric
from assay.record.metric import parse_metrics, together
from assay.session.results.program_results import read_results


def test_the_block_writes_the_contracts_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with assay.benchmark(["--benchmark-results-path", str(out), "--rows=7", "--fast"]) as b:
        assert b.param("rows", 1) == 7
        assert b.param("name", "x") == "x"
        assert b.param("fast", False) is True
        b.metric("rows_per_s", 3.5, unit="1/s", better="higher")
        b.metric("lap", samples=[3, 1, 2])
    assert json.loads((out / "params.json").read_text()) == {"rows": 7, "name": "x", "fast": True}
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["is_success"] is True
    assert metrics == {"rows_per_s": 3.5, "lap": 2.0, "is_success": True}
    assert json.loads((out / "metrics_detail.json").read_text()) == {
        "rows_per_s": {"unit": "1/s", "better": "higher"}, "lap": {"samples": [3.0, 1.0, 2.0]},
    }  # fmt: skip


def test_a_block_that_raises_says_so_in_its_files(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), assay.benchmark([f"--benchmark-results-path={tmp_path}"]) as b:
        b.metric("rows", 1)
        raise RuntimeError("boom")
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"rows": 1, "is_success": False}


def test_run_alone_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    with assay.benchmark([]) as b:
        b.metric("rows", 5, unit="rows")
    assert "rows: 5 rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--row", "1000"], "unknown argument '--row'; did you mean '--rows'? (known: --rows, --keep-all)"),
        (["--row=1000"], "unknown argument '--row'; did you mean '--rows'? (known: --rows, --keep-all)"),
        (["--rows", "2", "-x"], "unknown argument '-x' (known: --rows, --keep-all)"),
        (["1000"], "unknown argument '1000' (known: --rows, --keep-all)"),
    ],
)
def test_an_unknown_argument_fails_the_run(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What ran with the default is not what was asked for."""
    with pytest.raises(SystemExit) as ended, assay.benchmark(["--benchmark-results-path", str(tmp_path), *words]) as b:
        b.param("rows", 100_000)
        b.param("keep_all", False)
    assert ended.value.code == 2
    assert capsys.readouterr().err.strip() == message
    assert json.loads((tmp_path / "metrics.json").read_text())["is_success"] is False


def test_arguments_that_a_program_reads_itself_are_its_own() -> None:
    with assay.benchmark(["--rows", "5", "-v", "data/"]) as b:
        b.params(rows=5, verbose=True, path="data/")
    with assay.benchmark(["--n_rows", "5", "--fast"]) as b:
        b.params(n_rows=5)
        assert b.param("fast", False)


@pytest.mark.parametrize("runner", ["/x/ipykernel_launcher.py", "/x/bin/pytest", "/x/pytest/__main__.py"])
def test_the_command_line_of_a_notebook_or_pytest_is_not_the_benchmarks(
    runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [runner, "--f=/run/kernel.json", "-q"])
    with assay.benchmark() as b:
        assert b.param("f", "none") == "none"


def test_a_wrong_direction_is_refused() -> None:
    with assay.benchmark([]) as b:
        with pytest.raises(UsageError, match=r"^metric rows_per_s: unknown better 'more' \(known: higher, lower\)$"):
            b.metric("rows_per_s", 1.0, better="more")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="did you mean 'higher'"):
            b.metric("rows_per_s", 1.0, better="highest")  # type: ignore[arg-type]


def test_every_value_is_plain_whatever_is_known_of_it(tmp_path: Path) -> None:
    with assay.benchmark(["--benchmark-results-path", str(tmp_path)]) as b:
        b.metric("rows", 7, exact=True)
        b.metric("ratio", 2.5, unit="x", better="higher", exact=True)
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics == {"rows": 7, "ratio": 2.5, "is_success": True}
    assert json.loads((tmp_path / "metrics_detail.json").read_text()) == {
        "rows": {"exact": True}, "ratio": {"unit": "x", "better": "higher", "exact": True},
    }  # fmt: skip
    read = read_results(tmp_path, required=True)
    assert read.problems == read.warnings == []
    metrics = parse_metrics(together(read.metrics, read.metrics_detail))
    assert {name: metric.exact for name, metric in metrics.items()} == {
        "rows": True, "ratio": True, "is_success": False,
    }  # fmt: skip


def test_what_a_foreign_program_says_wrongly_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text("{}")
    wrong = {"rows": {"value": 7, "better": "more", "exact": "yes"}, "fine": {"value": 1, "better": "lower"}}
    (tmp_path / "metrics.json").write_text(json.dumps(wrong))
    (tmp_path / "metrics_detail.json").write_text("[]")
    read = read_results(tmp_path, required=True)
    assert read.problems == []
    assert read.warnings == [
        "metrics_detail.json holds a list, not an object of names and values",
        "metric rows: unknown better 'more' (known: higher, lower); its direction is not taken from there",
        "metric rows: exact is 'yes', not true or false; it is taken as not exact",
    ]
    assert parse_metrics(read.metrics)["rows"] == Metric("rows", 7)


def test_a_parameter_of_the_wrong_type_is_one_message() -> None:
    with pytest.raises(SystemExit, match="--rows: 'many' is not of type int"), assay.benchmark(["--rows", "many"]) as b:
        b.param("rows", 1)
