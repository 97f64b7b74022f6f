from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from assay.benchmarks.weight_probes.fresh_process import ask_fresh_process
from assay.benchmarks.weights.memory import fit_growth
from assay.benchmarks.weights.settings import SuiteSettings
from assay.errors import DataError
from assay.process.usage import AllocationMeter, UsageMeter


def test_growth_is_the_slope_after_the_warm_up() -> None:
    readings = [1e9, 2e9, 3e9] + [5000.0 + 10 * i for i in range(6)]
    found = fit_growth(readings)
    assert found.slope == pytest.approx(10)
    assert found.low > 0


def test_noise_around_a_level_is_no_growth() -> None:
    rng = np.random.default_rng(1)
    assert fit_growth(list(rng.standard_normal(90))).low < 0


def test_the_peak_within_a_block_is_seen_although_it_is_gone_at_its_end() -> None:
    # In a process of its own: what this one frees meanwhile would count against the peak.
    code = (
        "import numpy as np\n"
        "from assay.process.usage import MemoryMeter\n"
        "with MemoryMeter() as meter:\n"
        "    np.ones(100_000_000, np.uint8).sum()\n"
        "print(meter.extra, meter.after - meter.before)"
    )
    path = ":".join(entry for entry in sys.path if entry)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env={"PYTHONPATH": path})
    peak, left = (int(word) for word in done.stdout.split())
    assert 95e6 < peak < 150e6
    assert left < 50e6


def test_what_a_block_allocates_is_seen_although_the_same_was_freed_before() -> None:
    np.ones(5_000_000, np.uint8)
    with AllocationMeter() as meter:
        np.ones(5_000_000, np.uint8)
    assert 5_000_000 <= meter.peak < 6_000_000


def test_cpu_and_io_of_a_block(tmp_path: object) -> None:
    with UsageMeter() as meter, open(f"{tmp_path}/x", "wb") as out:
        out.write(b"x" * 3_000_000)
        sum(range(2_000_000))
    assert meter.used.written_mb >= 3
    assert meter.used.cpu_s > 0
    assert 0 < meter.used.cores < 4


def test_a_probe_measures_what_a_commit_and_a_checkout_hold(tmp_path: object) -> None:
    question = {"job": "peak", "store": "safetensors", "path": str(tmp_path), "parameters": 4_000_000}
    found = ask_fresh_process("memory", question, SuiteSettings())
    assert found["payload"] == 16_000_000
    assert 0.8 < found["checkout"] / found["payload"] < 3


def test_a_probe_that_fails_is_one_message(tmp_path: object) -> None:
    question = {"job": "peak", "store": "no such", "path": str(tmp_path), "parameters": 10}
    with pytest.raises(DataError, match=r"memory probe ended with code 1: .*unknown store 'no such'"):
        ask_fresh_process("memory", question, SuiteSettings())
