"""One run a night, as a scheduler starts it: its exit code is the alarm, told once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import main

PROGRAM = """#!/bin/sh
echo '{}' > "$ASSAY_BENCHMARK_RESULTS_PATH/params.json"
cp metrics "$ASSAY_BENCHMARK_RESULTS_PATH/metrics.json"
"""
CONFIG = """
entries: [{name: night, script: program.sh}]
metrics:
  ratio: {better: higher, exact: true}
  # What the machine does to a shell of a few milliseconds is not what is asked here.
  exec_time_s: {judged: false}
  usage.cpu_s: {judged: false}
  usage.peak_rss_mb: {judged: false}
"""


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_RESULTS_DIR", raising=False)
    (tmp_path / "program.sh").write_text(PROGRAM)
    (tmp_path / "program.sh").chmod(0o755)
    (tmp_path / "s.yaml").write_text(CONFIG)

    def run(wait: float, ratio: float = 4.0) -> tuple[int, str]:
        (tmp_path / "metrics").write_text(f'{{"wait_s": {wait}, "ratio": {ratio}}}')
        code = main(["run", "--config", "s.yaml"])
        return code, capsys.readouterr().out

    return run


def test_the_second_night_of_a_regression_is_the_alarm_and_the_third_is_not(night) -> None:  # type: ignore[no-untyped-def]
    for at in range(12):
        assert night(10 + 0.1 * (at % 4))[0] == 0
    code, said = night(13)
    assert (code, "not confirmed yet" in said) == (0, True)
    code, said = night(13.1)
    assert (code, "regressed: night wait_s" in said) == (3, True)
    code, said = night(13)
    assert (code, "regressed" in said) == (0, False)


def test_an_exact_figure_that_is_worse_fails_until_it_is_accepted(night) -> None:  # type: ignore[no-untyped-def]
    assert night(10)[0] == 0
    assert night(10, ratio=2.0)[0] == 1
    assert night(10, ratio=2.0)[0] == 1
    assert main(["accept", "night", "ratio", "--reason", "meant", "--by", "Kim"]) == 0
    assert night(10, ratio=2.0)[0] == 0


def test_what_is_not_judged_is_kept_and_in_no_comparison(  # type: ignore[no-untyped-def]
    night, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert night(10)[0] == 0
    assert night(10)[0] == 0
    sessions = sorted(path.parent for path in (tmp_path / "results").glob("*/session.json"))
    assert main(["compare", *map(str, sessions), "--format", "json"]) == 0
    assert {row["metric"] for row in json.loads(capsys.readouterr().out)["rows"]} == {"wait_s", "ratio"}
    assert main(["show", str(sessions[0]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["exec_time_s"] > 0
