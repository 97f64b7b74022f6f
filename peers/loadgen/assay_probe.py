"""One run of Assay's load generator over a no-op, as JSON: `assay_probe.py single N` or `poisson RATE SECONDS`."""

from __future__ import annotations

import json
import sys

from assay.loadgen import Graph, LoadGen, PoissonLoadScheduler, SingleStreamLoadScheduler, Stop
from assay.stages.synthetic import NoOp

chain = Graph.chain([NoOp()])
if sys.argv[1] == "single":
    result = LoadGen(chain, SingleStreamLoadScheduler(), Stop(max_queries=int(sys.argv[2]))).run()
    late = 0.0
    last = 0.0
else:
    rate, seconds = float(sys.argv[2]), float(sys.argv[3])
    result = LoadGen(chain, PoissonLoadScheduler(rate), Stop(duration=seconds), seed=7).run()
    late = result.lateness["p50"]
    last = (result.measured.rows["start"].max() - result.measured.rows["intended"].max()) / 1e9
print(
    json.dumps(
        {
            "cpu_us": result.cpu_s * 1e6 / result.completed,
            "late_us": late / 1e3,
            "late_p99_us": result.lateness["p99"] / 1e3,
            "rate": result.achieved_rate,
            "over_s": last,
            "queries": result.completed,
        }
    )
)
