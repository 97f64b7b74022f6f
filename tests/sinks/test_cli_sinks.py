"""`assay sinks`, as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sinks.otlp_collector import Collector
from tests.sinks.sessions import Told, a_record, lines
from tests.sinks.slack_service import CHANNEL, TOKEN, Slack

from assay.sinks.registry import BUILT_IN


def assay(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay", "sinks", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
    )


def test_list_names_every_sink_with_its_keys() -> None:
    shown = assay("list").stdout
    for name in BUILT_IN:
        assert f"\n{name}: " in f"\n{shown}"
    assert "drive_folder_id (required)" in shown
    assert "webhook_env" in shown


def test_what_is_pending_is_shown_and_flushed(tmp_path: Path) -> None:
    collector = Collector()
    collector.server.stop()
    told = Told(tmp_path / "results", [{"name": "otlp", "endpoint": collector.server.url}, {"name": "jsonl"}])
    told.run(a_record(1))
    told.end()
    where = ("--results-dir", str(tmp_path / "results"))
    status = assay("status", "nightly", *where)
    assert status.returncode == 1
    assert "otlp: 2 delivered, 2 pending (127.0.0.1:" in status.stdout
    assert "jsonl: 4 delivered" in status.stdout
    collector.server.start()
    flushed = assay("flush", "--all", *where)
    assert flushed.returncode == 0, flushed
    assert "otlp: 4 delivered" in flushed.stdout
    assert [point.value for point in collector.points if point.name == "assay.run_success"] == [1.0]
    assert assay("status", "nightly", *where).returncode == 0


def test_what_was_refused_can_be_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trouble = tmp_path / "trouble"
    trouble.write_text("process_result:reject")
    spec = {"class": "tests.sinks.sessions:Diary", "path": str(tmp_path / "diary"), "trouble": str(trouble)}
    told = Told(tmp_path, [{"name": "diary", **spec}])
    told.run(a_record(1))
    told.end()
    monkeypatch.setenv("PYTHONPATH", ":".join(["src", "."]))
    refused = assay("flush", str(told.folder.path))
    assert refused.returncode == 1
    assert "1 refused (run_finished nightly/entry-1/run-01: too large)" in refused.stdout
    trouble.unlink()
    again = assay("flush", str(told.folder.path), "--retry-refused")
    assert (again.returncode, again.stdout) == (0, "diary: 4 delivered\n")
    assert [line[1] for line in lines(tmp_path / "diary") if line[0] == "process_result"] == ["entry-1"]


def test_a_test_message_is_marked_and_says_what_happened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    slack = Slack()
    keys = ("--key", f"channel_id={CHANNEL}", "--key", f"base_url={slack.api}")
    sent = assay("test", "slack", *keys)
    assert sent.returncode == 0, sent
    [message] = slack.main()
    assert "assay-test-" in message.text
    assert "slack: 4 delivered" in sent.stdout
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-wrong-token")
    refused = assay("test", "slack", *keys)
    assert refused.returncode == 1
    assert "invalid_auth" in refused.stdout
    assert "xoxb-wrong-token" not in refused.stdout + refused.stderr
    slack.server.stop()


def test_the_sink_of_a_config_is_tested(tmp_path: Path) -> None:
    collector = Collector()
    config = tmp_path / "bench.yaml"
    config.write_text(
        f"results_dir: {tmp_path}\nsinks:\n- name: otlp\n  endpoint: {collector.server.url}\n"
        "entries:\n- name: a\n  script: a.py\n"
    )
    sent = assay("test", "otlp", "--config", str(config))
    assert sent.returncode == 0, sent
    assert {point.attributes["entry"] for point in collector.points} == {"assay-sinks-test"}
    wrong = assay("test", "slack", "--config", str(config))
    assert wrong.returncode == 2
    assert "unknown enabled sink 'slack'" in wrong.stderr
    assert "(known: otlp)" in wrong.stderr


def test_bad_words_are_one_message(tmp_path: Path) -> None:
    wrong = assay("test", "otlp", "--key", "endpont=http://x")
    assert wrong.returncode == 2
    assert "did you mean 'endpoint'?" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    Told(tmp_path, []).end()
    none = assay("status", str(tmp_path / "nightly"))
    assert none.returncode == 2
    assert "its session had no sinks" in none.stderr


def test_the_dashboard_is_json_that_grafana_imports() -> None:
    shown = json.loads(assay("dashboard").stdout)
    assert shown["__inputs"][0]["pluginId"] == "prometheus"


def test_a_sink_of_a_users_own_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that registers a sink, as it would be installed: no file of the project knows of it."""
    package = tmp_path / "site" / "their_sink-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: their-sink\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[assay.sinks]\ntheirs = their_sink:Theirs\n")
    (tmp_path / "site/their_sink.py").write_text(
        "from assay.sinks import Sink\n"
        "class Theirs(Sink):\n"
        "    def __init__(self, config):\n"
        "        super().__init__(config)\n"
        "        if not config.get('api_endpoint'):\n"
        "            raise ValueError('api_endpoint is required')\n"
        "    def process_result(self, result):\n"
        "        open(self.config['api_endpoint'], 'a').write(result['name'])\n"
    )
    monkeypatch.setenv("PYTHONPATH", ":".join(["src", str(tmp_path / "site")]))
    sent = assay("test", "theirs", "--key", f"api_endpoint={tmp_path / 'out'}")
    assert sent.returncode == 0, sent
    assert (tmp_path / "out").read_text() == "assay-sinks-test"
    failed = assay("test", "theirs", "--wait", "10")
    assert "ValueError: api_endpoint is required" in failed.stdout
    assert failed.returncode == 1
