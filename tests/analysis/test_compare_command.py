"""The printed tables are golden files: `ASSAY_GOLDEN=write pytest …` writes them anew."""

from __future__ import annotations

import json
import os
import re
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import START, MadeRun, make_session
from tests.analysis.records import noisy

from assay.cli.main import main

GOLDEN = Path(__file__).parent / "golden"
HOSTILE = "<script>alert(1)</script>|`x`"


def _runs(slower: float, n: int = 10, seed: int = 0) -> list[MadeRun]:
    times, rates = noisy(12.5 * slower, 0.005, n, seed), noisy(4000, 0.005, n, seed + 50)
    quick = noisy(0.0042 / slower, 0.005, n, seed + 70)
    return [
        *(
            MadeRun(
                "curate", {"time_taken_s": float(t), "rows_per_s": {"value": float(r), "unit": "1/s"}, "num_rows": 50},
                exec_time_s=13.0, repeat=i + 1, repeats=n,
            )
            for i, (t, r) in enumerate(zip(times, rates, strict=True))
        ),
        *(
            MadeRun(
                "serve", {"latency_p50": {"value": float(q), "unit": "s"}}, exec_time_s=2.0, repeat=i + 1, repeats=n
            )
            for i, q in enumerate(quick)
        ),
        MadeRun("train", {"loss": 0.5}, repeat=1),
        MadeRun(HOSTILE, {f"{HOSTILE}_s": 1.0}),
    ]  # fmt: skip


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_RESULTS_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    make_session(tmp_path, _runs(1.0), name="monday", started=START)
    make_session(tmp_path, _runs(1.25, seed=1), name="tuesday", started=START + timedelta(days=1))
    return tmp_path


def _golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("ASSAY_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("compare.txt", ["monday", "tuesday"]),
        ("compare_all.txt", ["monday", "tuesday", "--all", "--margin", "loss=10%"]),
        ("compare.md", ["monday", "tuesday", "--format", "markdown"]),
        ("compare.html", ["monday", "tuesday", "--format", "html"]),
    ],
)
def test_printed_comparison(name: str, words: list[str], results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *words]) == 3
    # The style sheet is the report's, and changes with it.
    _golden(name, re.sub("<style>.*?</style>", "", capsys.readouterr().out, flags=re.DOTALL))


def test_a_hostile_name_is_shown_as_text(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("html", "markdown"):
        main(["compare", "monday", "tuesday", "--format", form])
        assert "<script>" not in capsys.readouterr().out


def test_json_has_every_row_and_the_answer(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--format", "json"]) == 3
    said = json.loads(capsys.readouterr().out)
    assert said["regression_detected"] is True
    assert (said["base"], said["head"]) == ("monday", "tuesday")
    by_metric = {row["metric"]: row for row in said["rows"]}
    assert by_metric["time_taken_s"]["verdict"] == "regressed"
    assert by_metric["latency_p50"]["verdict"] == "improved"
    assert by_metric["rows_per_s"]["verdict"] == "equivalent"
    assert by_metric["time_taken_s"]["low"] > 1.2


def test_exit_codes(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "tuesday", "monday"]) == 3, "the latency got worse that way round"
    make_session(results, _runs(1.0, n=2), name="a-few", started=START + timedelta(days=2))
    assert main(["compare", "monday", "a-few"]) == 0
    assert main(["compare", "monday", "a-few", "--strict"]) == 4
    assert main(["compare", "monday", "tuesday", "--margin", "50%"]) == 0
    assert main(["compare", "monday", "nowhere"]) == 2
    assert main(["compare", "monday", "tuesday", "--margin", "much"]) == 2
    assert "write a share such as 5%" in capsys.readouterr().err


def test_output_goes_to_a_file_by_its_name(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["compare", "--output", str(tmp_path / "new" / "c.html")])
    assert (tmp_path / "new" / "c.html").read_text().startswith("<!doctype html>")
    assert capsys.readouterr().out == ""
