"""Whole loads on the scripted server: conversations, traces, saturation, rates, cancellation."""

from __future__ import annotations

import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import numpy as np
import pytest
from made_tokenizer import made_tokenizer
from tokenizers import Tokenizer

from assay.loadgen.http.server import (
    DONE,
    STREAM_END,
    STREAM_HEAD,
    ScriptedReply,
    ScriptedServer,
    chat_event,
    null_replies,
    usage_event,
)
from assay.loadgen.serving.load_point import point_metrics
from assay.loadgen.serving.load_settings import LoadSettings
from assay.loadgen.serving.load_text import curve_text, point_text
from assay.loadgen.serving.objectives import ServingObjective
from assay.loadgen.serving.rate_search import parse_rates, search_peak, sweep_rates
from assay.loadgen.serving.result_files import COLUMNS, request_columns, write_request_rows
from assay.loadgen.serving.run_load import LoadRunner, run_load

END = usage_event(1) + DONE + STREAM_END


def _settings(url: str, **given: Any) -> LoadSettings:
    return LoadSettings(url=url, **{"model": "m", "prompt_tokens": "4", "max_tokens": "4", **given})


def _slow(seconds: float) -> ScriptedReply:
    return ScriptedReply([(seconds, STREAM_HEAD + chat_event({"content": "hi"}, finish="stop") + END)])


class _Echo(BaseHTTPRequestHandler):
    """Answers with the number of messages it was sent, and keeps them."""

    protocol_version = "HTTP/1.1"
    bodies: list[Any]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.bodies.append(body)
        said = f"answer {len(body['messages'])}"
        data = STREAM_HEAD.partition(b"\r\n")[2] + chat_event({"content": said}, finish="stop") + END
        self.wfile.write(b"HTTP/1.1 200 OK\r\n" + data)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def echo() -> Any:
    handler = type("Echo", (_Echo,), {"bodies": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", handler.bodies  # type: ignore[attr-defined]
        server.shutdown()


def test_a_conversation_remembers_what_the_server_said_and_thinks_before_it_goes_on(echo: Any) -> None:
    url, bodies = echo
    settings = _settings(url, turns=3, think_s=0.05, concurrency=2, requests=4, warmup=0)
    point = run_load(settings)
    assert (point.answered, point.error_count) == (12, 0)
    assert sorted(len(body["messages"]) for body in bodies) == [1] * 4 + [3] * 4 + [5] * 4
    last = next(body["messages"] for body in bodies if len(body["messages"]) == 5)
    assert [message["role"] for message in last] == ["user", "assistant", "user", "assistant", "user"]
    assert [last[1]["content"], last[3]["content"]] == ["answer 1", "answer 3"]
    rows = np.sort(point.exchanges.rows, order="sent_ns")
    # Two at a time, twice, with two pauses of 50 ms each.
    assert (rows["sent_ns"][-1] - rows["sent_ns"][0]) / 1e9 > 0.19
    assert point.asked.words == "2 conversations at a time"
    assert point.verdict.of_server


def test_a_conversation_can_keep_to_what_was_recorded(echo: Any, tmp_path: Path) -> None:
    url, bodies = echo
    said = [("human", "one"), ("gpt", "recorded"), ("human", "two")]
    path = tmp_path / "share.json"
    path.write_text(json.dumps([{"conversations": [{"from": who, "value": text} for who, text in said]}]))
    point = run_load(_settings(url, prompts=path, multi_turn=True, history="recorded", warmup=0, requests=1))
    assert point.answered == 2
    assert [message["content"] for message in bodies[-1]["messages"]] == ["one", "recorded", "two"]


def test_a_trace_is_replayed_at_its_times(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    at = [0, 100, 130, 300]
    lines = [{"timestamp": ms, "input_length": 20, "output_length": 3, "hash_ids": [1]} for ms in at]
    path.write_text("\n".join(map(json.dumps, lines)))
    with ScriptedServer(null_replies(3)) as server:
        point = run_load(_settings(server.url, prompts=path, trace_speed=2.0))
    rows = point.exchanges.rows
    assert ((rows["intended_ns"] - point.exchanges.start_ns) / 1e6).tolist() == [0, 50, 65, 150]
    assert point.answered == 4
    assert point.asked.scheduler == "trace"


def test_tokens_are_counted_by_the_server_and_by_a_tokenizer(tmp_path: Path) -> None:
    file = made_tokenizer(tmp_path)
    with ScriptedServer(null_replies(6)) as server:
        point = run_load(_settings(server.url, requests=3, prompt_tokens="21", tokenizer=file))
    figures = {metric.name: metric.value for metric in point_metrics(point)}
    assert figures["output_tokens"] == 18
    assert figures["input_tokens_by_tokenizer"] == 63
    told = len(Tokenizer.from_file(str(file)).encode("".join(f"word{n} " for n in range(6))).ids)
    assert figures["output_tokens_by_tokenizer"] == 3 * told
    assert figures["counted_by"] == "usage"


def test_warm_up_is_in_no_figure() -> None:
    with ScriptedServer(null_replies(3), log_room=100) as server:
        point = run_load(_settings(server.url, requests=5, warmup=4))
        assert np.count_nonzero(server.log()["piece"] == -1) == 9
    assert (point.warmup, point.answered) == (4, 5)


def test_requests_are_cancelled_when_told_and_are_no_errors() -> None:
    pieces = [(0.0, STREAM_HEAD), *[(0.02, chat_event({"content": "x"}))] * 100, (0.0, END)]
    with ScriptedServer([ScriptedReply(pieces)]) as server:
        point = run_load(_settings(server.url, requests=3, warmup=0, cancel_after_tokens=3))
    assert set(point.replies.failures) == {"cancelled"}
    assert point.error_count == 0
    assert {metric.name: metric.value for metric in point_metrics(point)}["cancelled"] == 3


def test_a_saturated_server_is_left_and_said_to_be() -> None:
    """One place in flight of 50 ms each: 20 requests/s, and 60/s come."""
    with ScriptedServer([_slow(0.05)]) as server:
        point = run_load(_settings(server.url, rate=60.0, duration_s=40.0, concurrency=1, scheduler="constant"))
    assert point.saturation is not None
    assert point.duration_s < 20
    assert point.error_count == 0
    figures = {metric.name: metric.value for metric in point_metrics(point)}
    assert "latency_s_p50" not in figures
    assert figures["requests_per_s"] == pytest.approx(20, rel=0.2)
    assert "the server is saturated" in " ".join(point_text(point).split())


def test_a_sweep_says_which_rates_were_kept(tmp_path: Path) -> None:
    objective = ServingObjective.parse("latency:p90=0.2")
    told = []
    with ScriptedServer([_slow(0.02)]) as server:
        settings = _settings(server.url, requests=25, concurrency=1, scheduler="constant", objectives=(objective,))
        with LoadRunner(settings) as runner:
            found = sweep_rates(runner, [10.0, 150.0], lambda point, valid: told.append((point.asked.rate, valid)))
    assert told == [(10.0, True), (150.0, False)]
    assert found.curve.valid == [True, False]
    text = curve_text(found.points, found.curve)
    assert max(map(len, text.splitlines())) <= 80
    columns = request_columns(found.points)
    assert set(columns["point"].to_list()) == {0, 1}
    for form in ("csv", "jsonl", "parquet"):
        path = write_request_rows(tmp_path, found.points, form)
        assert path is not None
        assert path.stat().st_size > 1000
    first = json.loads((tmp_path / "requests.jsonl").read_text().splitlines()[0])
    assert tuple(first) == COLUMNS


@pytest.mark.serial
def test_the_peak_is_found_and_confirmed() -> None:
    """One place in flight of 20 ms each is at most 50 requests/s."""
    objective = ServingObjective.parse("latency:p80=0.08")
    tried = []
    with ScriptedServer([_slow(0.02)]) as server:
        settings = _settings(server.url, rate=30.0, requests=20, concurrency=1, scheduler="constant",
                             objectives=(objective,))  # fmt: skip
        with LoadRunner(settings) as runner:
            found = search_peak(runner, 30.0, lambda point, valid: tried.append((point.asked.rate, valid)), 1.0)
    curve = found.curve
    assert curve.peak_rate is not None
    assert 30 <= curve.peak_rate <= 55
    assert curve.peak_bounded
    assert curve.peak_confirmed
    assert tried.count((curve.peak_rate, True)) >= 2
    assert "highest rate that meets the objectives, twice" in curve_text(found.points, curve)


def test_rates_are_read() -> None:
    assert parse_rates("4,1,2") == [4.0, 1.0, 2.0]
    assert parse_rates("1-10") == [1.0, 2.0, 4.0, 8.0, 10.0]


def test_a_load_fits_the_terminal() -> None:
    objectives = (ServingObjective.parse("first_output_token_s_from_send:p99.9=0.000001"),)
    with ScriptedServer(null_replies(5)) as server:
        point = run_load(_settings(server.url, rate=300.0, requests=40, concurrency=300, objectives=objectives))
    lines = point_text(point).splitlines()
    assert max(map(len, lines)) <= 80, lines
    assert any("✗ first_output_token_s_from_send:p99.9" in line for line in lines)


def _stop_after(server: ScriptedServer, runner: LoadRunner, lines: int) -> None:
    while len(server.log()) < lines:
        sleep(0.02)
    runner.stop()


def test_a_load_that_is_ended_keeps_what_was_measured_and_tries_no_other_rate() -> None:
    with ScriptedServer([_slow(0.005)], log_room=10_000) as server:
        settings = _settings(server.url, requests=400, scheduler="constant")
        with LoadRunner(settings) as runner:
            ending = Thread(target=_stop_after, args=(server, runner, 100))
            ending.start()
            found = sweep_rates(runner, [50.0, 60.0, 70.0], lambda point, valid: None)
            ending.join()
    [point] = found.points
    assert 10 < point.answered < 399
    assert found.curve.valid == [False]
    assert point.error_count == 0
    assert "ended before its time" in " ".join(point_text(point).split())


def test_a_program_that_is_told_to_end_writes_what_it_measured(tmp_path: Path) -> None:
    words = [
        "--duration",
        "60",
        "--concurrency",
        "2",
        "--benchmark-results-path",
        str(tmp_path / "out"),
        "--rows",
        "csv",
    ]
    with ScriptedServer(null_replies(4, 0.001), log_room=100_000) as server:
        argv = [sys.executable, "-m", "assay.benchmarks.load_benchmark", "--url", server.url, *words]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as program:
            while len(server.log()) < 500 and program.poll() is None:
                sleep(0.05)
            program.terminate()
            _, said = program.communicate(timeout=30)
    assert program.returncode == 1
    assert said == "load: ended before its time; what was measured by then is kept\n"
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["answered"] > 50
    assert metrics["errors"] == 0
    assert metrics["is_success"] is False
    assert (tmp_path / "out" / "serving.json").exists()
