from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay


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
    assert metrics["rows_per_s"] == {"value": 3.5, "unit": "1/s", "better": "higher"}
    assert metrics["lap"]["value"] == 2.0


def test_a_block_that_raises_says_so_in_its_files(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), assay.benchmark([f"--benchmark-results-path={tmp_path}"]) as b:
        b.metric("rows", 1)
        raise RuntimeError("boom")
    assert json.loads((tmp_path / "metrics.json").read_text()) == {"rows": 1, "is_success": False}


def test_run_alone_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    with assay.benchmark(["--typo", "1"]) as b:
        b.metric("rows", 5, unit="rows")
    printed = capsys.readouterr()
    assert "rows: 5 rows" in printed.out
    assert "--typo was given" in printed.err


def test_a_parameter_of_the_wrong_type_is_one_message() -> None:
    with pytest.raises(SystemExit, match="--rows: 'many' is not of type int"), assay.benchmark(["--rows", "many"]) as b:
        b.param("rows", 1)
