"""MLPerf LoadGen and Assay side by side, alternating, medians of five: `make peers-loadgen`.

With `--realtime` (root) both run in a real-time class: on a machine where other programs run, lateness is otherwise
mostly theirs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.figures import Figures

HERE = Path(__file__).parent
ROUNDS = 5
SECONDS = 3
SINGLE = 100_000

Probe = dict[str, float]


def probe(python: str, script: str, *words: object) -> Probe:
    command = [python, str(HERE / script), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr[-2000:]}")
    result: Probe = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def both(peer: str, *words: object) -> tuple[list[Probe], list[Probe]]:
    """Probes of both, alternating; who goes first alternates too."""
    theirs: list[Probe] = []
    ours: list[Probe] = []
    for n in range(ROUNDS):
        turns = [(theirs, peer, "mlperf_probe.py"), (ours, sys.executable, "assay_probe.py")]
        for kept, python, script in turns if n % 2 == 0 else reversed(turns):
            kept.append(probe(python, script, *words))
    return theirs, ours


def of(probes: list[Probe], name: str) -> float:
    return median(p[name] for p in probes)


def main() -> int:
    peer = sys.argv[1]
    if "--realtime" in sys.argv:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    figures = Figures()
    theirs, ours = both(peer, "single", SINGLE)
    ratio = of(ours, "cpu_us") / of(theirs, "cpu_us")
    words = f"{of(ours, 'cpu_us'):.2f} against {of(theirs, 'cpu_us'):.2f} µs ({ratio:.2f} ×)"
    figures.add("single stream: CPU a query", words, "below 1 ×", ratio < 1)
    for rate in (1000, 5000, 10_000):
        theirs, ours = both(peer, "poisson", rate, SECONDS)
        late = of(ours, "late_us") / of(theirs, "late_us")
        words = f"{of(ours, 'late_us'):.2f} against {of(theirs, 'late_us'):.2f} µs ({late:.4f} ×)"
        figures.add(f"Poisson {rate}/s: lateness p50", words, "at most 0.1 ×", late <= 0.1)
        words = f"{of(ours, 'late_p99_us'):.0f} against {of(theirs, 'late_p99_us'):.0f} µs"
        figures.add(f"Poisson {rate}/s: lateness p99", words)
        over = median(max(p["over_s"], 0.0) for p in ours) / SECONDS
        figures.add(f"Poisson {rate}/s: our last send after its time", f"{over:.3%} of the run", "0.5%", over <= 0.005)
        words = f"{of(ours, 'rate'):.0f} against {of(theirs, 'rate'):.0f} /s"
        figures.add(f"Poisson {rate}/s: achieved rate", words)
        words = f"{of(ours, 'cpu_us'):.1f} against {of(theirs, 'cpu_us'):.1f} µs (ours spins, theirs writes a trace)"
        figures.add(f"Poisson {rate}/s: CPU a query", words)
    return figures.finish()


if __name__ == "__main__":
    raise SystemExit(main())
