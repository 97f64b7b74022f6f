from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from assay.fallback.program import with_stand_ins

SCRIPT = "benchmark.py"


def run_legacy(folder: Path) -> bool:
    """`--legacy`: the user's own `benchmark.py`, from before there were suites, is run after them. True unless it
    failed; that there is none is said, and no failure."""
    script = folder / SCRIPT
    if not script.is_file():
        print(f"--legacy: there is no {SCRIPT} in {folder}: the suites were all that ran", flush=True)
        return True
    print(f"--legacy: running {script}", flush=True)
    done = subprocess.run([sys.executable, str(script)], cwd=folder, env=with_stand_ins(os.environ), check=False)
    code = done.returncode
    how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
    print(f"--legacy: {SCRIPT} {how}", flush=True)
    return code == 0
