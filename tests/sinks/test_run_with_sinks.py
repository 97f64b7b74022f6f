"""`assay run` itself, with sinks that misbehave: what is measured is what is measured without them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sinks.slack_service import HOOK, Slack

from assay.record import Record, SessionFolder

pytestmark = pytest.mark.slow

SCRIPT = """
import assay
with assay.benchmark() as b:
    total = 0
    for number in range(3_000_000):
        total += number * number
    b.metric("total", total)
"""


def assay(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=folder.parent)


def session(tmp_path: Path, sinks: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    monkeypatch.setenv("PYTHONPATH", f"{Path('src').resolve()}:{Path('.').resolve()}")
    tmp_path.mkdir()
    (tmp_path / "bench.py").write_text(SCRIPT)
    config = tmp_path / "bench.yaml"
    entries = "entries:\n" + "".join(f"- {{name: e{n}, script: bench.py}}\n" for n in (1, 2))
    config.write_text(f"results_dir: {tmp_path}/results\n{sinks}{entries}")
    done = assay(tmp_path, "run", "--config", str(config))
    assert done.returncode == 0, done
    [results] = (tmp_path / "results").glob("*/results.jsonl")
    return results.parent, done.stdout


def measured(record: Record) -> tuple[str, str, dict, tuple[str, ...]]:
    return record.name, str(record.outcome), dict(record.script_metrics), record.reasons


def test_a_sink_that_never_answers_changes_no_result_and_takes_none_of_the_entries_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without, _ = session(tmp_path / "without", "", monkeypatch)
    trouble = tmp_path / "trouble"
    trouble.write_text("process_result:hang\n")
    diary = f'"tests.sinks.sessions:Diary", path: {tmp_path}/diary, trouble: {trouble}'
    sinks = (
        f"sinks:\n- {{name: never, class: {diary}, delivery_timeout_s: 2}}\n"
        "- {name: otlp, endpoint: 'http://127.0.0.1:9'}\n- {name: jsonl}\n- {name: slack, enabled: false}\n"
    )
    beside, said = session(tmp_path / "with", sinks, monkeypatch)
    before, after = SessionFolder(without).records(), SessionFolder(beside).records()
    assert [measured(record) for record in after] == [measured(record) for record in before]
    assert "Sink never: 2 delivered, 4 pending (no answer within 2 s)" in said
    assert "Sink otlp:" in said
    assert "Sink jsonl: 6 delivered" in said
    assert "Sink slack" not in said
    # The entries' CPU: the same work, whoever is told of it. Twice would be a sink at work inside an entry.
    cpu = [sum(record.usage.cpu_s for record in records) for records in (before, after)]
    assert cpu[1] < 2 * cpu[0]


def test_the_older_form_and_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slack = Slack()
    monkeypatch.setenv("SLACK_WEBHOOK_URL", slack.hook)
    monkeypatch.setenv("PYTHONPATH", f"{Path('src').resolve()}:{Path('.').resolve()}")
    (tmp_path / "bench.py").write_text(SCRIPT)
    matrix = tmp_path / "matrix.yaml"
    matrix.write_text(
        f"results_dir: {tmp_path}/results\nslack:\n  webhook_env: SLACK_WEBHOOK_URL\n"
        "entries:\n- {name: e1, script: bench.py}\n"
    )
    (tmp_path / "datasets.json").write_text("{}")
    words = ("--matrix", str(matrix), "--datasets", str(tmp_path / "datasets.json"), "--session-name", "old")
    done = assay(tmp_path, "run", *words)
    assert done.returncode == 0, done
    assert [said["text"] for said in slack.hooked] == ["Assay old: all 1 passed"]
    secret = HOOK.rpartition("/")[2].encode()
    assert secret.decode() not in done.stdout + done.stderr
    leaked = [path for path in (tmp_path / "results").rglob("*") if path.is_file() and secret in path.read_bytes()]
    assert leaked == []
    assert json.loads((tmp_path / "results/old/session.json").read_text())["name"] == "old"
