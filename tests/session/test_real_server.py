"""`transformers serve` on the tiny model: a real server, started and ended by a session and loaded meanwhile.

Its start takes most of the time: all that is to be known of it is found out by the program of one entry.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from workplace import Workplace

from assay.process.leftovers import find_started_for
from assay.record import Record, SessionFolder

SERVER = Path(__file__).parent.parent / "support" / "tiny_server.py"
PROGRAM = """
import json, subprocess, sys
from assay.pipeline.stage import Worker
from assay.stages.llm_server import Inference
results, url, model = sys.argv[1:]
few = ["--model", model, "--warmup", "0", "--prompt-tokens", "8", "--max-tokens", "6", "--no-ceiling"]
load = [sys.executable, "-m", "assay.benchmarks.load_benchmark", "--url", url, "--requests", "2", *few]
subprocess.run([*load, "--benchmark-results-path", results], check=True)
command = [sys.executable, "-m", "assay", "load", url, "--requests", "1", "--turns", "2", *few]
subprocess.run([*command, "--results-dir", results + "/cli"], check=True)
subprocess.run([*command, "--results-dir", results + "/whole", "--no-stream"], check=True)
stage = Inference(url=url, model=model, max_new_tokens=5, warmup=False)
stage.setup(Worker())
said = [("user", "What day is it?"), ("assistant", "Monday."), ("user", "And tomorrow?")]
batch = stage.collected(list(stage.process([{"role": role, "content": text} for role, text in said])))
stage.teardown()
print(json.dumps({"answer": batch.answer_tokens, "prompt": batch.prompt_tokens}))
"""


@pytest.mark.slow
def test_a_session_starts_loads_and_ends_it(workplace: Workplace) -> None:
    model = workplace.folder / "tiny"
    workplace.write("program.py", PROGRAM)
    workplace.write(
        "session.yaml",
        f"""
entries:
  - name: chat
    command: ["{{python}}", program.py, "{{benchmark_results_path}}", "{{service_url}}", "{model}"]
    service:
      command: ["{{python}}", "{SERVER}", --port, "{{port}}", --folder, "{model}"]
      ready: /health
""",
    )
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 0, answer.out + answer.err
    session, record = workplace.sessions()[-1], workplace.records()["chat"]
    assert record.metrics["errors"].value == 0
    assert record.metrics["ttft_s_p50"].value > 0
    assert record.metrics["service_cpu_s"].value > 0
    assert record.metrics["service_peak_rss_mb"].value > 100
    log = (session.path / record.files["service_log"]).read_text()
    assert log.count('POST /v1/chat/completions HTTP/1.1" 200') == 2 + 2 + 2 + 1
    for kind in ("cli", "whole"):
        (talk,) = _records(session.path / "chat/benchmark_results" / kind)
        assert talk.metrics["errors"].value == 0
        assert talk.metrics["latency_s_p50"].value > 0
    said = json.loads((session.path / "chat/logs/stdout.log").read_text().splitlines()[-1])
    assert said["answer"] == [5]
    assert said["prompt"][0] > 20
    assert not find_started_for("ASSAY_SESSION", os.path.realpath(session.path))


def _records(results: Path) -> list[Record]:
    (folder,) = results.glob("*/session.json")
    return SessionFolder(folder.parent).records()
