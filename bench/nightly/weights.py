"""The weight store's quick curve: bytes against the limit, and CPU of commit and checkout over safetensors'.

The peer is measured in the same run, so nothing needs to be calibrated.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import assay
from assay.benchmarks.weight_scenarios.scenario_data import scenario_data
from assay.benchmarks.weight_scenarios.version_chain import BOOKKEEPING, VersionChain, best_of, run_chain
from bench.nightly.calibrated import MARGIN

with assay.benchmark() as b, tempfile.TemporaryDirectory() as folder:
    parameters = b.param("parameters", 4_000_000)
    rounds = b.param("rounds", 5)
    chain = VersionChain(scenario_data("similar", "bfloat16", parameters=parameters))
    runs = {
        name: best_of([run_chain(name, chain, Path(folder) / f"{name}-{number}") for number in range(rounds)])
        for name in ("safetensors", "balanced", "fast")
    }
    for name in ("balanced", "fast"):
        run, floor = runs[name], runs["safetensors"]
        commit = floor.commit_mb_per_cpu_s / run.commit_mb_per_cpu_s
        checkout = floor.checkout_mb_per_cpu_s / run.checkout_mb_per_cpu_s
        b.metric(f"{name}_commit_over_safetensors", commit, better="lower", margin=MARGIN)
        b.metric(f"{name}_checkout_over_safetensors", checkout, better="lower", margin=MARGIN)
        b.metric(f"{name}_stored_bytes", run.stored_bytes, unit="B", better="lower", exact=True, margin=BOOKKEEPING)
        b.metric(f"{name}_of_limit", chain.limit.share_reached(run.stored_bytes), better="higher", margin=BOOKKEEPING)
    b.counts(wrong_tensors=sum(len(run.wrong) for run in runs.values()))
