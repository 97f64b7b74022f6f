"""One load from several client processes: dealt out by the schedule, measured as one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import UsageError
from assay.loadgen.http.http_client import TargetUnreachable
from assay.loadgen.http.server import (
    DONE,
    STREAM_END,
    STREAM_HEAD,
    ScriptedReply,
    ScriptedServer,
    chat_event,
    null_replies,
)
from assay.loadgen.serving.load_point import LoadPoint
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.load_text import point_text
from assay.loadgen.serving.result_files import point_json
from assay.loadgen.serving.run_load import run_load


def _settings(url: str, **given: Any) -> LoadSettings:
    return LoadSettings(url=url, **{"model": "m", "prompt_tokens": "4", "max_tokens": "4", "processes": 3, **given})


def _most_at_once(point: LoadPoint) -> int:
    rows = point.exchanges.rows
    steps = [(int(at), change) for name, change in (("sent_ns", 1), ("end_ns", -1)) for at in rows[name]]
    return int(np.cumsum([change for _, change in sorted(steps, key=lambda step: (step[0], step[1]))]).max())


def test_an_open_loop_keeps_its_schedule_and_its_prompts() -> None:
    with ScriptedServer(null_replies(4, 0.001)) as server:
        one, three = (run_load(_settings(server.url, rate=200.0, requests=60, processes=n)) for n in (1, 3))
    assert three.answered == 60
    for field in ("intended_ns", "message"):
        start = (one.exchanges.start_ns, three.exchanges.start_ns) if field == "intended_ns" else (0, 0)
        assert (one.exchanges.rows[field] - start[0]).tolist() == (three.exchanges.rows[field] - start[1]).tolist()
    assert [three.replies.text(place) for place in range(60)] == [one.replies.text(place) for place in range(60)]
    assert three.exchanges.cpu_s > 0
    assert point_json(three)["asked"]["processes"] == 3
    assert "client     3 processes used" in point_text(three)


def test_a_closed_loop_shares_its_places_and_requests() -> None:
    with ScriptedServer(null_replies(4, 0.001)) as server:
        point = run_load(_settings(server.url, concurrency=4, requests=61))
    assert (point.answered, point.exchanges.connections) == (61, 4)
    assert _most_at_once(point) == 4
    assert np.bincount(point.exchanges.process).tolist() == [21, 20, 20]
    # Connections are numbered through all of them, and each belongs to one process.
    owners = {
        (int(c), int(p)) for c, p in zip(point.exchanges.rows["connection"], point.exchanges.process, strict=True)
    }
    assert sorted(connection for connection, _ in owners) == [0, 1, 2, 3]


def test_a_cap_is_shared_and_what_it_holds_back_is_not_the_clients_fault() -> None:
    slow = ScriptedReply([(0.02, STREAM_HEAD + chat_event({"content": "a"}, finish="stop") + DONE + STREAM_END)])
    with ScriptedServer([slow]) as server:
        point = run_load(_settings(server.url, rate=400.0, scheduler="constant", requests=40, concurrency=3))
    assert _most_at_once(point) <= 3
    assert point.delivered.held_back > 20
    assert not point.verdict.client_bottleneck
    assert "waited for one of the places in flight" in point.verdict.undelivered


def test_a_server_that_is_not_there_is_one_message() -> None:
    with pytest.raises(TargetUnreachable, match="Connection refused"):
        run_load(_settings("http://127.0.0.1:1", concurrency=3, warmup=0))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"concurrency": 2}, "--processes 3 need at least as many places in flight, not 2"),
        ({"rate": 5.0, "requests": 2}, "--processes 3 need at least as many requests, not 2"),
        ({"concurrency": 6, "scheduler": "multi_stream"}, "this scheduler sends groups"),
    ],
)
def test_what_cannot_be_dealt_out_is_said(given: dict[str, Any], why: str) -> None:
    with ScriptedServer(null_replies(1)) as server, pytest.raises(UsageError, match=why):
        run_load(_settings(server.url, **given))


def test_conversations_stay_in_one_process() -> None:
    with pytest.raises(UsageError, match="a conversation goes on in one process"):
        _settings("http://localhost", turns=2)


def test_an_interrupt_ends_all_processes_and_keeps_what_was_measured(tmp_path: Path) -> None:
    with ScriptedServer(null_replies(4, 0.001), log_room=1000) as server:
        words = [f"--url={server.url}", "--model=m", "--concurrency=4", "--duration=60", "--processes=2"]
        command = [sys.executable, "-m", "assay.benchmarks.load_benchmark", *words, "--no-ceiling"]
        command.append(f"--benchmark-results-path={tmp_path}")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            while len(server.log()) < 200:
                assert run.poll() is None
            run.send_signal(signal.SIGTERM)
            _, said = run.communicate(timeout=30)
    assert run.returncode == 1
    assert "ended before its time; what was measured by then is kept" in said
    assert json.loads((tmp_path / "metrics.json").read_text())["answered"] > 10


def test_the_client_in_python_is_dealt_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.loadgen.http.open_client.functions", lambda: None)
    with ScriptedServer(null_replies(4, 0.001)) as server:
        point = run_load(_settings(server.url, concurrency=3, requests=30))
    assert (point.exchanges.client, point.answered, point.exchanges.connections) == ("Python", 30, 3)
