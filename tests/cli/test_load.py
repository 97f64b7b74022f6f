"""`assay load` as a user runs it: a session like any other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workplace import Workplace

from assay.files.json_text import read_json
from assay.files.reading import RESULT
from assay.loadgen.http.server import ScriptedReply, ScriptedServer, answer, null_replies

SHORT = ("--requests", "20", "--prompt-tokens", "8", "--max-tokens", "8", "--no-ceiling")
KEY = "sk-never-to-be-written-42"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def _everything(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_load_is_a_session_with_metrics_rows_and_a_report(place: Workplace) -> None:
    with ScriptedServer(null_replies(8, 0.001)) as server:
        said = place.assay("load", server.url, "--concurrency", "2", *SHORT, "--as", "vllm", "--rows", "csv")
    assert said.code == 0, said.out + said.err
    assert "asked      2 in flight" in said.out
    assert "As vllm defines it" in said.out
    [session] = place.sessions()
    [record] = session.records()
    assert record.name == "load"
    metrics = {name: value.get("value") if isinstance(value, dict) else value
               for name, value in record.script_metrics.items()}  # fmt: skip
    assert metrics["answered"] == 20
    assert metrics["output_tokens"] == 160
    assert metrics["ttft_s_p50"] > 0.0005
    results = session.path / "load" / "benchmark_results"
    details = json.loads((results / "metrics_detail.json").read_text())
    assert (details["ttft_s_p99"]["unit"], details["ttft_s_p99"]["better"]) == ("s", "lower")
    written = read_json(results / "serving.json", RESULT)
    assert (written["version"], written["model"], written["endpoint"]) == (1, "null", "chat")
    [point] = written["points"]
    assert sum(point["histograms"]["latency_s"]["counts"]) == 20
    assert sum(point["over_time"]["requests_per_s"]) * point["over_time"]["slot_s"] == pytest.approx(20)
    assert len((results / "requests.csv").read_text().splitlines()) == 21
    assert (results / "exchanges" / "point-00" / "bodies.lz4").exists()
    assert (session.path / "report.html").exists()
    again = place.assay("rerun", f"{session.path.name}/load")
    assert again.code == 1, "the server is gone"
    assert "no connection can be made" in again.out


def test_the_key_reaches_nothing(place: Workplace) -> None:
    """Not even where the server repeats it, and whatever its variable is called."""
    refusal = answer("401 Unauthorized", json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())
    with ScriptedServer([ScriptedReply([(0.0, refusal)])]) as server:
        refused = place.assay("load", server.url, "--model", "m", OPENAI_API_KEY=KEY)
    echoed = b'{"choices": [{"message": {"content": "%s"}, "finish_reason": "stop"}]}' % KEY.encode()
    with ScriptedServer([ScriptedReply([(0.0, answer("200 OK", echoed))])]) as server:
        named = ("--model", "m", "--api-key-env", "LLM", "--no-stream")
        passed = place.assay("load", server.url, *named, *SHORT, LLM=KEY)
    assert (refused.code, passed.code) == (1, 0), refused.out + passed.out + passed.err
    assert "401: bad key ***" in refused.out
    for said in (refused, passed):
        assert KEY not in said.out + said.err
    assert KEY.encode() not in _everything(place.folder)
    assert b"--api-key-env=LLM" in _everything(place.folder), "the variable's name is no secret"


def test_an_objective_that_is_missed_fails(place: Workplace) -> None:
    with ScriptedServer(null_replies(8, 0.002)) as server:
        missed = place.assay("load", server.url, *SHORT, "--objective", "latency_s:p50=0.0001")
    assert missed.code == 1
    assert "✗ latency_s:p50=0.0001: 20 of 20 were over" in missed.out


def test_a_sweep_is_one_entry_with_a_curve(place: Workplace) -> None:
    with ScriptedServer(null_replies(4)) as server:
        said = place.assay("load", server.url, *SHORT, "--sweep", "20,40", "--scheduler", "constant", "--label", "a")
    assert said.code == 0, said.out + said.err
    [session] = place.sessions()
    written = read_json(session.path / "load" / "benchmark_results" / "serving.json", RESULT)
    assert written["setting"] == "a"
    assert [point["rate"] for point in written["curve"]["points"]] == [20, 40]
    assert "ttft_s_p99" in written["curve"]["points"][0]["times"]


def test_an_entry_of_a_session(place: Workplace) -> None:
    with ScriptedServer(null_replies(4)) as server:
        place.write(
            "session.yaml",
            f"entries:\n  - name: serving\n    script: load_benchmark.py\n"
            f"    args: --url {server.url} --requests 10 --no-ceiling\n"
            "    requirements:\n      - {metric: errors, max_value: 0}\n",
        )
        said = place.assay("run", "--config", "session.yaml")
    assert said.code == 0, said.out + said.err


WRONG = {
    (): "which server? Give its URL",
    ("http://h:1", "--rate", "0"): "--rate must be greater than 0",
    ("http://h:1", "--objective", "ttft"): "METRIC:PERCENTILE=SECONDS",
    ("http://h:1", "--find-peak"): "--find-peak needs an --objective",
    ("http://h:1", "--sweep", "a,b"): "give rates as 1,2,4 or 1-32",
    ("http://h:1", "--scheduler", "poison", "--rate", "1"): "did you mean 'poisson'",
    ("http://h:1", "--prompts", "none.jsonl"): "none.jsonl: no such file",
    ("http://h:1", "--prompt-tokens", "x"): "is no length in tokens",
    ("gopher://h",): "http:// or https://",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_run_is_said_before_a_session_is_made(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.cli.main import main

    monkeypatch.chdir(tmp_path)
    assert main(["load", *words]) == 2
    assert WRONG[words] in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
