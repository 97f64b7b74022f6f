"""`transformers serve` on the tiny model: a real server, loaded from the command line, by a stage and by a session."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from workplace import Workplace

from assay.pipeline.resources import Worker
from assay.session.service.address import free_port
from assay.stages.llm_server import Inference

SERVER = Path(__file__).parent.parent / "support" / "tiny_server.py"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "tiny"


@pytest.fixture(scope="module")
def url(model: Path) -> Iterator[str]:
    """One server for all tests of this file that do not start one themselves."""
    port = free_port()
    log = model.parent / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, str(SERVER), "--port", str(port), "--folder", str(model)], stdout=out, stderr=out
        )
    try:
        until = time.monotonic() + 120
        while not _answers(f"http://127.0.0.1:{port}/health"):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_a_conversation_is_streamed_from_the_command_line(workplace: Workplace, url: str, model: Path) -> None:
    words = ["--requests", "2", "--turns", "2", "--prompt-tokens", "8", "--max-tokens", "6", "--no-ceiling"]
    answer = workplace.assay("load", url, "--model", str(model), *words)
    assert answer.code == 0, answer.out + answer.err
    (record,) = workplace.records().values()
    assert record.metrics["errors"].value == 0
    assert record.metrics["ttft_s_p50"].value > 0
    assert record.metrics["output_tokens_per_s"].value > 0


def test_a_stage_asks_it(url: str, model: Path) -> None:
    inference = Inference(url=url, model=str(model), max_new_tokens=5)
    inference.setup(Worker())
    messages = [
        {"role": "user", "content": "What day is it?"},
        {"role": "assistant", "content": "Monday."},
        {"role": "user", "content": "And tomorrow?"},
    ]
    batch = inference.collected(list(inference.process(messages)))
    inference.teardown()
    assert batch.answer_tokens == (5,)
    assert batch.prompt_tokens[0] > 20
    assert not inference.notes()


def test_a_session_starts_it_loads_it_and_ends_it(workplace: Workplace, model: Path) -> None:
    workplace.write(
        "session.yaml",
        f"""
entries:
  - name: chat
    script: load_benchmark.py
    args: >-
      --url {{service_url}} --model {model} --requests 2 --prompt-tokens 8 --max-tokens 6 --no-ceiling
    service:
      command: ["{sys.executable}", "{SERVER}", --port, "{{port}}", --folder, "{model}"]
      ready: /health
      ready_timeout_s: 120
""",
    )
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 0, answer.out + answer.err
    record = workplace.records()["chat"]
    assert record.metrics["errors"].value == 0
    assert record.metrics["service_cpu_s"].value > 0
    assert record.metrics["service_peak_rss_mb"].value > 100
    log = (workplace.sessions()[-1].path / record.files["service_log"]).read_text()
    assert "Uvicorn running on" in log
    assert 'POST /v1/chat/completions HTTP/1.1" 200' in log
