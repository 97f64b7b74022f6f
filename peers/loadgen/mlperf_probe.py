"""One run of MLPerf LoadGen's Python binding over a no-op, as JSON; runs in the peer's own environment.

How late it sends is its own word: `issue_delay` of its trace, from the scheduled time to the issue.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import mlperf_loadgen as lg


def answer(samples: list[lg.QuerySample]) -> None:
    lg.QuerySamplesComplete([lg.QuerySampleResponse(sample.id, 0, 0) for sample in samples])


settings = lg.TestSettings()
settings.mode = lg.TestMode.PerformanceOnly
if sys.argv[1] == "single":
    queries = int(sys.argv[2])
    settings.scenario = lg.TestScenario.SingleStream
    settings.single_stream_expected_latency_ns = 10_000
    settings.min_duration_ms = 0
else:
    rate, seconds = float(sys.argv[2]), float(sys.argv[3])
    queries = int(rate * seconds)
    settings.scenario = lg.TestScenario.Server
    settings.server_target_qps = rate
    settings.server_target_latency_ns = 10**10
    settings.min_duration_ms = int(seconds * 1000)
settings.min_query_count = settings.max_query_count = queries

with tempfile.TemporaryDirectory() as folder:
    log = lg.LogSettings()
    output = lg.LogOutputSettings()
    output.outdir = folder
    log.log_output = output
    log.enable_trace = sys.argv[1] != "single"
    sut = lg.ConstructSUT(answer, lambda: None)
    qsl = lg.ConstructQSL(1024, 1024, lambda _: None, lambda _: None)
    begin = time.process_time()
    lg.StartTestWithLogSettings(sut, qsl, settings, log)
    cpu = time.process_time() - begin
    lg.DestroyQSL(qsl)
    lg.DestroySUT(sut)
    delays, at = [], []
    if log.enable_trace:
        for line in (Path(folder) / "mlperf_log_trace.json").read_text().splitlines():
            if line.startswith('{"name":"Latency"'):
                event = json.loads(line.rstrip(","))
                delays.append(event["args"]["issue_delay"] / 1e3)
                at.append(event["ts"] + event["args"]["issue_delay"] / 1e3)
delays.sort()
print(
    json.dumps(
        {
            "cpu_us": cpu * 1e6 / queries,
            "late_us": delays[len(delays) // 2] if delays else 0.0,
            "late_p99_us": delays[int(len(delays) * 0.99)] if delays else 0.0,
            "rate": len(at) / ((max(at) - min(at)) / 1e6) if at else 0.0,
            "queries": queries,
        }
    )
)
