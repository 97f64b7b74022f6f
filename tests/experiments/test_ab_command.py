"""Real runs of a tiny program that writes a metric it is told, so that what is found is known beforehand."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from other_environment import other_python, version_of

from assay.analysis.rules import load_floors
from assay.cli.main import main

SCRIPT = """
import json, os, sys
from pathlib import Path
out = Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
level = float(sys.argv[sys.argv.index("--level") + 1]) if "--level" in sys.argv else LEVEL
level *= float(os.environ.get("FACTOR", 1))
wobble = 1 + (hash(os.environ["ASSAY_RUN_ID"]) % 100) / 20000
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"wait_s": level * wobble}))
"""
SHELL = """#!/bin/sh
echo '{"wait_s": '$1'}' > "$ASSAY_BENCHMARK_RESULTS_PATH/metrics.json"
"""
CONFIG = """
entries:
  - {name: tiny, script: tiny.py, args: --level 10}
  - {name: other, script: tiny.py, args: --level 5}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_RESULTS_DIR", str(tmp_path / "results"))
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    (tmp_path / "tiny.sh").write_text(SHELL)
    (tmp_path / "tiny.py").write_text(SCRIPT.replace("LEVEL", "10.0"))
    (tmp_path / "bench.yaml").write_text(CONFIG)
    return tmp_path


def _ab(*words: str, pairs: int = 6) -> int:
    at = words.index("--") if "--" in words else len(words)
    return main(["ab", "--quiet", "--warmup", "0", "--pairs", str(pairs), *words[:at], *words[at:]])


@pytest.mark.slow
def test_two_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _ab("--", "sh tiny.sh 10", "--", "sh tiny.sh 13") == 3
    said = capsys.readouterr().out
    assert "A = sh tiny.sh 10 (6 runs)   B = sh tiny.sh 13 (6 runs)" in said
    assert "30.0% slower" in said
    session = next((folder / "results").glob("ab-sh__*"))
    kept = json.loads((session / "comparison.json").read_text())
    assert kept["rows"][0]["design"] == "paired"
    assert (session / "comparison.html").is_file()
    assert _ab("--strict", "--", "sh tiny.sh 10", "--", "sh tiny.sh 10") == 0
    assert "1 metric unchanged" in capsys.readouterr().out


@pytest.mark.slow
def test_variants_of_a_configuration(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--config", "bench.yaml", "--format", "json"]
    assert _ab(*words, "--a", "level=10", "--b", "level=12", "FACTOR=0.5") == 0
    rows = {row["entry"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert set(rows) == {"tiny", "other"}
    assert rows["tiny"]["verdict"] == "improved"
    assert abs(rows["tiny"]["ratio"] - 0.6) < 0.01


@pytest.mark.slow
def test_two_git_revisions_each_run_their_own_code(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)

    (folder / "bench.yaml").write_text("entries: [{name: tiny, script: tiny.py}]\n")
    git("init", "-q")
    git("add", "tiny.py", "bench.yaml")
    git("commit", "-qm", "first")
    (folder / "tiny.py").write_text(SCRIPT.replace("LEVEL", "20.0"))
    git("commit", "-qam", "slower")
    (folder / "tiny.py").write_text("broken: this is the working tree and must not be run")
    assert _ab("--config", "bench.yaml", "--a", "rev=HEAD~1", "--b", "rev=HEAD") == 3
    assert "A = rev=HEAD~1 (6 runs)   B = rev=HEAD (6 runs)" in capsys.readouterr().out
    left = subprocess.run(["git", "worktree", "list"], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert len(left.splitlines()) == 1
    assert (folder / "tiny.py").read_text().startswith("broken")


@pytest.mark.slow
def test_confirm_runs_only_the_suspects_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--config", "bench.yaml", "--confirm", "--a", "rest=1", "--b", "entries.tiny.args=--level 14"]
    assert _ab(*words) == 3
    assert "confirmed by 6 fresh pairs" in capsys.readouterr().out
    again = next((folder / "results").glob("confirm-tiny__*"))
    assert {path.name for path in again.iterdir() if "@" in path.name} == {"tiny@a", "tiny@b"}


@pytest.mark.slow
def test_calibration_is_stored_and_becomes_the_margin(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--quiet", "--warmup", "0", "--pairs", "6", "--config", "bench.yaml", "--entries", "tiny"]
    assert main(["calibrate", *words]) == 0
    floors = load_floors(folder / "results")
    assert [(item.entry, item.metric, item.pairs) for item in floors] == [("tiny", "wait_s", 6)]
    assert 0 <= floors[0].floor < 0.01
    assert "noise floor" in capsys.readouterr().out
    assert main(["run", "--config", "bench.yaml", "--entries", "tiny"]) == 0
    record = json.loads((next((folder / "results").glob("nightly-run__*")) / "results.jsonl").read_text())
    assert record["fingerprint"]["key"] == floors[0].fingerprint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("true", "false", "failed: B failed: false: exited with code 1"),
        ("false", "true", "failed: A failed: false: exited with code 1"),
        ("false", "false", "failed: A and B failed in the same way: false: exited with code 1"),
    ],
)
def test_a_side_that_fails_is_red(folder: Path, capsys: pytest.CaptureFixture[str], a: str, b: str, said: str) -> None:
    assert _ab("--", a, "--", b, pairs=2) == 1
    assert said in capsys.readouterr().out


@pytest.mark.slow
def test_a_side_that_fails_now_and_then_is_red(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sometimes.sh").write_text(SHELL + 'case "$ASSAY_RUN_ID" in *run-03*) exit 7;; esac\n')
    assert _ab("--output", "c.json", "--", "sh tiny.sh 10", "--", "sh sometimes.sh 10", pairs=7) == 1
    reason = "B failed in 1 of 7 runs: sh sometimes.sh 10: exited with code 7"
    assert f"failed: {reason}" in capsys.readouterr().err
    kept = json.loads((folder / "c.json").read_text())
    assert (kept["reason"], kept["exit_code"], kept["regression_detected"]) == (reason, 1, None)
    assert kept["rows"][0]["base_runs"] == 6


@pytest.mark.slow
def test_a_metric_that_nobody_has_compares_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _ab("--metric", "speed", "--", "sh tiny.sh 10", "--", "sh tiny.sh 10") == 0
    assert "nothing compared: sh: it has no metric speed (--metric)" in capsys.readouterr().err
    assert _ab("--strict", "--metric", "speed", "--", "sh tiny.sh 10", "--", "sh tiny.sh 10") == 4


@pytest.mark.slow
def test_a_pull_request_whose_base_has_no_benchmarks_yet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def commit(*files: str) -> None:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        for words in (["add", *files], [*who, "commit", "-qm", "change"]):
            subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)

    (folder / "bench.yaml").write_text("entries: [{name: tiny, script: tiny.py}]\n")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True, capture_output=True)
    commit("tiny.sh")
    commit("tiny.py", "bench.yaml")
    words = ["--config", "bench.yaml", "--a", "rev=HEAD~1", "--b", "rev=HEAD"]
    assert _ab(*words) == 2
    assert "rev=HEAD~1: bench.yaml does not exist in that revision" in capsys.readouterr().err
    assert _ab(*words, "--allow-missing-base", "--confirm") == 0
    assert "no baseline yet: nothing was compared (--allow-missing-base)" in capsys.readouterr().out
    (folder / "tiny.py").write_text("raise SystemExit('this head does not run')")
    commit("tiny.py")
    words[words.index("rev=HEAD~1")] = "rev=HEAD~2"
    assert _ab(*words, "--allow-missing-base") == 1
    assert "failed: B failed: tiny: exited with code 1: this head does not run" in capsys.readouterr().out
    words[words.index("rev=HEAD~2")] = "rev=HEAD~1"
    assert _ab(*words, "--allow-missing-base") == 1
    assert "failed: B failed: tiny: exited with code 1: this head does not run" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give two commands"),
        (["--", "true"], "A and B are the same"),
        (["--", "a", "--", "b", "--", "c"], "at most 2"),
        (["--config", "bench.yaml"], "A and B are the same"),
        (["--config", "none.yaml", "--a", "x=1", "--b", "x=2"], "no such file"),
        (["--config", "bench.yaml", "--a", "rev=HEAD", "--b", "x=2"], "not inside a git repository"),
        (["--pairs", "0", "--", "true", "--", "false"], "--pairs must be at least 1"),
    ],
)
def test_what_cannot_be_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    assert main(["ab", *words]) == 2
    assert message in capsys.readouterr().err


def test_what_differs_between_two_interpreters_stands_beside_the_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "s.yaml").write_text("entries: [{name: tiny, script: tiny.py}]")
    sides = ["--a", f"interpreter={sys.executable}", "--b", f"interpreter={other_python()}"]
    main(["ab", "--config", "s.yaml", *sides, "--pairs", "6", "--warmup", "0", "--quiet"])
    assert f"ray {version('ray')} → {version_of('ray')}" in capsys.readouterr().out


@pytest.mark.slow
def test_calibrating_what_fails_is_a_failure_and_no_usage_error(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "--pairs", "1", "--warmup", "0", "--", "false"]) == 1
    said = capsys.readouterr().err
    assert "nothing could be measured: A and B failed in the same way: false: exited with code 1" in said
    assert "1 of at most 1 pairs, failed" in said
