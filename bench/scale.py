"""`make bench-scale`: how far Assay goes on one machine, measured at a tenth of each size and at the whole of it.

    python -m bench.scale [entries values recordings documents tensors requests] [--share 0.1]

CPU seconds and peak memory of a process of its own for each; what is linear shows the same cost an item twice. The
figures of docs/scale.md are made by this.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from assay.names import unknown

Facts = dict[str, str]


def entries(count: int, folder: Path) -> Facts:
    """A session of programs that do nothing, with its records, history and report."""
    from assay.cli.main import main as assay

    config = folder / "session.yaml"
    lines = "".join(f'  - {{name: e{number:05d}, command: "true"}}\n' for number in range(count))
    config.write_text(f"results_dir: {folder}/results\nentries:\n{lines}")
    with redirect_stdout(StringIO()):
        assay(["run", "--config", str(config)])
    report = next(folder.glob("results/*/report.html")).stat().st_size
    return {"report": f"{report / 1e6:.1f} MB"}


def values(count: int, folder: Path) -> Facts:
    """Values in the history, as nightly sessions of 50 entries put them in, and what people ask of it."""
    from history_rows import fill
    from starlette.testclient import TestClient

    from assay.history import History
    from assay.server.app import dashboard

    with History.beside(folder) as history:
        fill(history, sessions=max(1, count // 1000), entries=50, metrics=17)
        [series] = history.series(entry="entry-007", metric="metric_03")
        facts = {
            "on disk": f"{sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.0f} MB",
            "latest 20 runs": _cpu(lambda: history.runs(limit=20)),
            "trend of 1,000": _cpu(lambda: history.points(series.id, limit=1000)),
        }
    client = TestClient(dashboard(folder), base_url="http://localhost")
    client.get("/")
    return {**facts, "dashboard's first page": _cpu(lambda: client.get("/"))}


def recordings(count: int, folder: Path) -> Facts:
    """Lines of an audio manifest, curated."""
    from assay.benchmarks.alm_pipeline_benchmark import main as curate
    from assay.benchmarks.data.alm import SHAPES, write_manifest

    manifest = folder / "manifest.jsonl"
    write_manifest(manifest, 1000, SHAPES["short"], seed=1)
    words = ["--input-manifest", str(manifest), "--repeat-factor", str(max(1, count // 1000))]
    curate([*words, "--benchmark-results-path", str(folder / "results")])
    return {}


def documents(count: int, folder: Path) -> Facts:
    """Documents among which exact duplicates are found; making them is most of the time, and not counted."""
    from assay.benchmarks.data.documents import Corpus, write_documents
    from assay.benchmarks.dedup_benchmark import main as find_duplicates

    write_documents(folder, Corpus(count, files=16, seed=1))
    words = ["--input-path", str(folder / "documents"), "--output-path", str(folder / "same"), "--method", "exact"]
    return {"deduplicated in": _cpu(lambda: find_duplicates([*words, "--benchmark-results-path", str(folder / "r")]))}


def tensors(count: int, folder: Path) -> Facts:
    """Small tensors in one version of a weight repository, a second version in which one of them changed."""
    import numpy as np

    from assay.weights import Repository

    rng = np.random.default_rng(1)
    model = {f"layer.{number}": rng.normal(size=256).astype(np.float32) for number in range(count)}
    repository = Repository.init(folder / "weights")
    first = _cpu(lambda: repository.commit(model, "first"))
    model["layer.0"] = model["layer.0"] + 1
    second = _cpu(lambda: repository.commit(model, "second"))
    opened = Repository.open(folder / "weights")
    return {"commit": first, "commit with one changed": second, "checkout": _cpu(lambda: opened.checkout("main"))}


def requests(count: int, folder: Path) -> Facts:
    """Requests to a server that answers at once with 32 tokens, 16 in flight."""
    from assay.benchmarks.load_benchmark import main as load
    from assay.loadgen.http.server import ScriptedServer, null_replies

    with ScriptedServer(null_replies(32)) as server, redirect_stdout(StringIO()):
        words = ["--url", server.url, "--concurrency", "16", "--requests", str(count), "--max-tokens", "32"]
        began = time.perf_counter()
        cpu = _cpu(lambda: load([*words, "--no-ceiling", "--benchmark-results-path", str(folder / "r")]))
        rate = count / (time.perf_counter() - began)
    return {"client": cpu, "rate, everything included": f"{rate:.0f}/s"}


SIZES: dict[Callable[[int, Path], Facts], int] = {
    entries: 1000,
    values: 1_000_000,
    recordings: 1_000_000,
    documents: 200_000,
    tensors: 50_000,
    requests: 100_000,
}


def _cpu(work: Callable[[], object]) -> str:
    began = time.process_time()
    work()
    seconds = time.process_time() - began
    return f"{seconds:.1f} s CPU" if seconds >= 1 else f"{seconds * 1e3:.1f} ms CPU"


def measure(name: str, count: int) -> None:
    """Measures one part in a process of its own: peak memory is that of this part alone."""
    with tempfile.TemporaryDirectory(prefix="assay-scale-") as folder, tempfile.TemporaryFile() as said:
        command = [sys.executable, "-m", "bench.scale", "--one", name, str(count), folder]
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{name} of {count} ended with {process.returncode}")
        wall, cpu = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
        said.seek(0)
        facts: Facts = json.loads(said.read().splitlines()[-1])
    shown = "".join(f"; {what}: {value}" for what, value in facts.items())
    print(f"{count:>9,} {name}: {cpu:.1f} s CPU, {1e6 * cpu / count:,.0f} µs each, {wall:.0f} s wall, ", end="")
    print(f"{usage.ru_maxrss / 1024:.0f} MB at most{shown}", flush=True)


def main(argv: list[str]) -> int:
    parts = {part.__name__: part for part in SIZES}
    if argv[:1] == ["--one"]:
        print(json.dumps(parts[argv[1]](int(argv[2]), Path(argv[3]))))
        return 0
    words = argparse.ArgumentParser(prog="python -m bench.scale", description=(__doc__ or "").split("\n")[0])
    words.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    words.add_argument("--share", type=float, default=1.0, help="of each size (default: 1)")
    args = words.parse_args(argv)
    for name in args.parts or parts:
        if name not in parts:
            words.error(unknown("part", name, parts))
        whole = max(
            1000 if name in ("documents", "recordings", "values") else 100, int(SIZES[parts[name]] * args.share)
        )
        for count in (max(100, whole // 10), whole):
            measure(name, count)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
