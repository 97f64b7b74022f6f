from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from assay.benchmarks.weights.orchestration.settings import Settings
from assay.errors import DataError


def ask_fresh_process(probe: str, question: Mapping[str, Any], settings: Settings, timeout: float = 600.0) -> Any:
    """Runs one of `assay.benchmarks.weights.probes` in a new interpreter: question as JSON in, answer as JSON out."""
    done = subprocess.run(
        [sys.executable, "-m", f"assay.benchmarks.weights.probes.{probe}"],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        timeout=timeout,
        env=_environment(settings),
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise DataError(f"the {probe} probe ended with code {done.returncode}: {last}")
    return json.loads(done.stdout.splitlines()[-1])


def start_probe(probe: str, settings: Settings) -> subprocess.Popen[str]:
    """For answers that come one by one."""
    return subprocess.Popen(
        [sys.executable, "-m", f"assay.benchmarks.weights.probes.{probe}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=_environment(settings),
    )


def start_seconds() -> float:
    """How long a new interpreter takes to be ready with numpy, which every probe needs."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import numpy"], check=True, env=_environment(Settings()))
    return time.perf_counter() - start


def _environment(settings: Settings) -> dict[str, str]:
    # The child finds this package where we found it, installed or not.
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, **settings.exported(), **settings.without_simd(), "PYTHONPATH": path}
