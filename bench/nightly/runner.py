"""CPU that a session costs beside its programs: start, plan, supervisors, records, history, report."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import assay
from bench.nightly.calibrated import Calibrated

with assay.benchmark() as b, tempfile.TemporaryDirectory() as folder:
    entries = b.param("entries", 20)
    numbers = count()

    def session() -> None:
        config = Path(folder) / f"session-{next(numbers)}.yaml"
        lines = "".join(f'  - {{name: e{number}, command: "true"}}\n' for number in range(entries))
        config.write_text(f"results_dir: {config.with_suffix('')}\nentries:\n{lines}")
        command = [sys.executable, "-m", "assay", "run", "--config", str(config)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    measured = Calibrated(b, "runner", b.param("rounds", 3))
    measured.measure("cpu_ms_per_session", session, 1, unit="ms")
