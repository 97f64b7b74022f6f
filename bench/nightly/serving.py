"""CPU of the HTTP client for a streamed answer of 32 tokens, with what is made of it: 16 requests in flight."""

from __future__ import annotations

import json
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import assay
from assay.benchmarks.load_benchmark import main as load
from assay.loadgen.http.server import ScriptedServer, null_replies
from bench.nightly.calibrated import Calibrated

TOKENS = 32

with assay.benchmark() as b, tempfile.TemporaryDirectory() as folder, ScriptedServer(null_replies(TOKENS)) as server:
    requests = b.param("requests", 10_000)
    results = Path(folder)
    words = ["--url", server.url, "--benchmark-results-path", str(results), "--concurrency", "16"]
    words += ["--max-tokens", str(TOKENS), "--rows", "none", "--no-exchanges", "--no-ceiling"]

    def ask(count: int) -> None:
        with redirect_stdout(StringIO()):
            code = load([*words, "--requests", str(count)])
        if code:
            raise SystemExit(f"the load ended with {code}")

    ask(16)
    Calibrated(b, "serving", b.param("rounds", 5)).measure("cpu_us_per_request", lambda: ask(requests), requests)
    found = json.loads((results / "metrics.json").read_text())
    b.counts(num_requests=found["requests"], num_errors=found["errors"])
