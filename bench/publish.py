"""`make bench-publish`: a history of a million values as a published site, and what its first view costs a browser.

The site stands under a sub-path, as on most hosts of static files. A load is everything until the first view and its
scripts are done, in a browser that has nothing of it yet; its bytes are those of the answers, without compression.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from browser import chromium
from history_rows import fill
from static_host import first_view, static_host

from assay.history import History

ENTRIES, METRICS = 50, 5
VALUES_A_RUN = METRICS + 3
"""Values of one run: its metrics, and the three that Assay measures of every run."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--values", type=int, default=1_000_000)
    parser.add_argument("--loads", type=int, default=7)
    parser.add_argument("--results", type=Path, help="a results folder that is there already")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-publish-") as made:
        folder = asked.results or Path(made)
        if asked.results is None:
            with History.beside(folder) as history:
                fill(history, sessions=asked.values // (ENTRIES * VALUES_A_RUN), entries=ENTRIES, metrics=METRICS)
        _publish(folder, Path(made) / "host" / "team" / "assay")
        _load(Path(made) / "host", asked.loads)


def _publish(results: Path, site: Path) -> None:
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "assay", "publish", str(site), "--results-dir", str(results)]
    subprocess.run(command, check=True, env=os.environ, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    files = [path for path in site.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"published: {len(files)} files, {size:.1f} MB, {time.monotonic() - begun:.1f} s, {cpu:.1f} s of CPU time")


def _load(host: Path, loads: int) -> None:
    with static_host(host) as address, chromium() as browser:
        seen = [first_view(browser, f"{address}/team/assay/") for _ in range(loads)]
    print(f"first view: {max(one.bytes for one in seen) / 1e6:.3f} MB in {seen[0].requests} requests")
    for what, unit in (("loaded_s", "s until loaded"), ("browser_cpu_s", "s of the page's CPU time")):
        values = sorted(getattr(one, what) for one in seen)
        print(f"{len(values)} loads: median {median(values):.2f}, longest {values[-1]:.2f} {unit}")


if __name__ == "__main__":
    main()
