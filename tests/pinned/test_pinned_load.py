"""Load, pipelines beside each other, the dashboard and Ctrl-C: whatever is measured is hidden, the rest is pinned."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree
from urllib.request import urlopen

import pytest
from golden import check_golden
from transcript import FIGURES, Scenario, headings, play
from workplace import Workplace

HERE = Path(__file__).parent
GOLDEN = HERE / "golden" / "load"
TOKENS = 4


class _Model(BaseHTTPRequestHandler):
    """An OpenAI-compatible server with one model, whose answers are always the same."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer("application/json", b'{"object": "list", "data": [{"id": "tiny", "object": "model"}]}')

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        usage = {"prompt_tokens": 8, "completion_tokens": TOKENS, "total_tokens": 8 + TOKENS}
        if not asked.get("stream"):
            choice = {"index": 0, "message": {"content": "a b c d"}, "finish_reason": "stop"}
            return self._answer("application/json", json.dumps({"choices": [choice], "usage": usage}).encode())
        chunks = [{"choices": [{"index": 0, "delta": {"content": "a "}}]}] * TOKENS
        chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
        lines = [json.dumps(chunk) for chunk in chunks] + ["[DONE]"]
        return self._answer("text/event-stream", "".join(f"data: {line}\n\n" for line in lines).encode())

    def _answer(self, kind: str, body: bytes) -> None:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


LOAD = """
    assay load {url} --requests 10 --prompt-tokens 8 --max-tokens 4 --no-ceiling --rows csv --label tiny --as vllm
    ls results
    keys results/*/load/benchmark_results/serving.json
    keys results/*/load/benchmark_results/metrics.json
    keys results/*/load/benchmark_results/params.json
    head results/*/load/benchmark_results/requests.csv
    page results/*/report.html
"""
OTHER_LOADS = """
    assay load {url}/v1/models --endpoint http --concurrency 2 --requests 10 --no-ceiling --session-name one
    assay load {url} --requests 10 --no-stream --no-ceiling --objective latency_s:p50=0.0000001 --session-name two
    assay load http://127.0.0.1:9 --requests 10 --no-ceiling --session-name three
    assay load
    assay load gopher://there
    assay load {url} --find-peak
    assay load {url} --rate 5 --scheduler poison
    top results
"""


HIDDEN = (
    (r"(?m)^ *! the client was the bottleneck.*\n(?:  +.*\n)*", ""),
    (r"(?m)^\d+,\d+,.*$", "ROW"),
    *FIGURES,
)


@pytest.mark.parametrize("steps", [LOAD, OTHER_LOADS], ids=["load", "other_loads"])
def test_a_load(workplace: Workplace, model: str, steps: str, request: pytest.FixtureRequest) -> None:
    text = play(workplace, Scenario(steps.format(url=model), hidden=HIDDEN))
    check_golden(GOLDEN / f"{request.node.callspec.id}.txt", text)


PIPELINES = """\
name: tiny
pipelines:
- name: one
  loadgen: {component: loadgen.ConstantLoadScheduler, max_queries: 60, timeout: 60, config: {rate: 100}}
  stages: [{id: 0, component: stages.stage.Stage}]
- name: two
  loadgen: {component: loadgen.ConstantLoadScheduler, max_queries: 60, timeout: 60, config: {rate: 100}}
  stages: [{id: 0, component: stages.stage.Stage}]
"""
COLOCATION = Scenario(
    """
    assay colocate tiny.yml --check
    assay colocate wrong.yml --check
    assay colocate tiny.yml --policy nobody --check
    assay colocate tiny.yml --quiet --results out --events csv --trace
    ls out
    keys out/colocation.json
    page out/report.html
    """,
    {"tiny.yml": PIPELINES, "wrong.yml": PIPELINES.replace("stages.stage.Stage", "stages.stage.Stag", 1)},
    hidden=((r"(?m)^warning: .*\n\n", ""), *FIGURES),
)


def test_pipelines_beside_each_other(workplace: Workplace) -> None:
    check_golden(GOLDEN / "colocate.txt", play(workplace, COLOCATION))


SUITE = """\
from assay.benchmarks.weights import BenchmarkSuite

class Own(BenchmarkSuite):
    def __init__(self):
        super().__init__("own")

    def get_scenarios(self):
        return ["first", "second"]

    def run_scenario(self, name, config):
        return {"answer": 42.0}
"""
BENCH = Scenario(
    """
    assay weights bench --profile tiny.yaml --suite own:Own --output out
    ls out
    values out/metrics.json
    values out/params.json
    page out/report.html
    assay weights bench --profile tiny.yaml --suite own:Nobody --output other
    """,
    {"own.py": SUITE, "tiny.yaml": "iterations: 1\nmodels: [tiny]\ntimeout: 60\nbudget_s: 1\nversions: 2\n"},
    hidden=FIGURES,
)


def test_suites_of_weights(workplace: Workplace) -> None:
    check_golden(GOLDEN / "weights_bench.txt", play(workplace, BENCH))


NIGHT = "nightly-run__2026-03-02__02-00-00"
PAGES = (
    "/",
    "/sessions",
    f"/session?name={NIGHT}",
    f"/session/entry?session={NIGHT}&entry=merge",
    "/entries",
    "/entry?name=parse",
    "/series?id=1",
    "/runs?entry=parse",
    f"/compare?base=nightly-run__2026-03-01__02-00-00&head={NIGHT}",
    "/static/style.css",
    "/nowhere",
)


def test_the_dashboard_is_served_until_it_is_interrupted(workplace: Workplace) -> None:
    copytree(HERE / "sessions", workplace.folder / "results")
    assert workplace.assay("history", "import").code == 0
    with subprocess.Popen(
        workplace.argv("serve", "--port", "0"),
        cwd=workplace.folder,
        env=workplace.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"http://[\d.]+:\d+", said)
        assert found is not None, said
        for page in PAGES:
            said += f"GET {page}\n" + "".join(f"{line}\n" for line in _page(found[0] + page))
        server.send_signal(signal.SIGINT)
        said += server.stdout.read()
    said += f"[exit {server.returncode}]\n"
    check_golden(GOLDEN / "serve.txt", said.replace(found[0], "ADDRESS").replace(str(workplace.folder), "HERE"))


def _page(address: str) -> list[str]:
    try:
        with urlopen(address, timeout=60) as answer:
            return [str(answer.status), *headings(answer.read().decode())]
    except OSError as error:
        return [str(error)]


WAITING = """\
results_dir: results
entries:
- {name: before, command: echo before}
- {name: waits, command: "sh -c 'echo > started; test -e go || exec sleep 600'"}
- {name: after, command: echo after}
"""
RESUMED = Scenario(
    """
    assay show
    assay run --resume latest
    assay run --resume latest
    values results/*/session.json
    """,
    {"go": ""},
)


def test_a_session_goes_on_after_it_was_interrupted(workplace: Workplace) -> None:
    workplace.write("waiting.yaml", WAITING)
    running = workplace.start("run", "--config", "waiting.yaml")
    give_up = time.monotonic() + 120
    while not (workplace.folder / "started").exists():
        assert running.poll() is None
        assert time.monotonic() < give_up
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=60) == 130
    check_golden(GOLDEN / "resumed.txt", play(workplace, RESUMED))
