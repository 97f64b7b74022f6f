"""Ray in a network and process namespace of its own: no other cluster is seen, and nothing survives the program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def run_in_namespace(program: str, *args: str, timeout: float = 560) -> dict[str, Any]:
    """Runs `tests/pipeline/ray/<program>.py`; what it leaves in answer.json is its answer."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    # Sockets have a path length limit, so not pytest's long temporary folders.
    scratch = tempfile.mkdtemp(prefix="assay-ray-", dir="/tmp")
    try:
        done = subprocess.run(
            [
                "unshare", *user, "-n", "-p", "-f", "--mount-proc", "--kill-child",
                "sh", "-c", 'ip link set lo up && exec "$@"', "sh",
                sys.executable, str(Path(__file__).with_name(f"{program}.py")), scratch, *args,
            ],
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("RAY_")},
                "RAY_TMPDIR": scratch,
                "RAY_USAGE_STATS_ENABLED": "0",
                "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
            },
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{program} failed:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        answer: dict[str, Any] = json.loads((Path(scratch) / "answer.json").read_text())
        return answer
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
