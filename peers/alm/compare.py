"""Assay beside the reference on the same manifests: every output record equal, and what each one costs.

    python -m peers.alm.compare --reference .peers/curator [--recordings 10000] [--executors xenna,ray_data]

The reference's bare functions are charged for their work only, its executors for every process they start, and Assay
for its whole process: interpreter, imports and all.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RUNS = 5


@dataclass
class Cost:
    wall: float
    cpu: float
    memory_mb: float
    note: str = ""


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--reference", type=Path, required=True, help="environment with nemo-curator")
    words.add_argument("--recordings", type=int, default=10_000)
    words.add_argument("--long", type=int, default=300, help="hour-long recordings")
    words.add_argument("--executors", default="xenna,ray_data,ray_actors", help="of the reference; empty: none")
    words.add_argument("--seed", type=int, default=int(time.time()), help="default: the time, so that it is a new one")
    args = words.parse_args()
    python = str((args.reference / "bin" / "python").absolute())
    scratch = Path(tempfile.mkdtemp(prefix="peers-alm-"))
    try:
        print(f"seed {args.seed}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        ok = short(python, scratch, args)
        ok &= hour_long(python, scratch, args)
        return 0 if ok else 1
    finally:
        shutil.rmtree(scratch)


def short(python: str, scratch: Path, args: argparse.Namespace) -> bool:
    manifest = generated(scratch / "short.jsonl", args.recordings, args.seed, "short")
    digest = assay(manifest, scratch)
    written = assay(manifest, scratch, scratch / "assay.jsonl")
    counted = bare(python, manifest, scratch)
    bare_written = bare(python, manifest, scratch, scratch / "reference.jsonl")
    ok = same(scratch / "assay.jsonl", scratch / "reference.jsonl")
    print(
        f"{args.recordings} recordings, {manifest.stat().st_size / 1e6:.0f} MB, against the bare functions:", flush=True
    )
    row("counted, with a digest", counted, digest, 45, 120)
    row("written as JSONL", bare_written, written, 12, None)
    lines = hashes(scratch / "assay.jsonl")
    best: Cost | None = None
    for name in filter(None, args.executors.split(",")):
        cost, found = executor(python, name, manifest, scratch)
        if cost is None:
            print(f"  executor {name} failed")
            continue
        equal = found == lines
        ok &= equal
        said = "equal" if equal else "DIFFER"
        print(f"  executor {name}: {cost.wall:.1f} s wall, {cost.cpu:.1f} s CPU; records {said}", flush=True)
        best = cost if best is None or cost.cpu < best.cpu else best
    if best is not None:
        print("against its best executor (its results thrown away in both rows):")
        row("counted, with a digest", best, digest, 300, 1000)
        row("written as JSONL", best, written, 80, None)
    return ok


def hour_long(python: str, scratch: Path, args: argparse.Namespace) -> bool:
    manifest = generated(scratch / "long.jsonl", args.long, args.seed, "long")
    ours = assay(manifest, scratch)
    assay(manifest, scratch, scratch / "assay.jsonl", runs=1)
    theirs = bare(python, manifest, scratch)
    bare(python, manifest, scratch, scratch / "reference.jsonl")
    print(f"{args.long} hour-long recordings, {manifest.stat().st_size / 1e6:.0f} MB, against the bare functions:")
    row("counted, with a digest", theirs, ours, 60, 120)
    start = assay(generated(scratch / "one.jsonl", 1, args.seed, "short"), scratch)
    row(
        "  without Assay's start-up",
        theirs,
        Cost(ours.wall - start.wall, ours.cpu - start.cpu, ours.memory_mb),
        None,
        None,
    )
    return same(scratch / "assay.jsonl", scratch / "reference.jsonl")


def row(what: str, theirs: Cost, ours: Cost, least: int | None, goal: int | None) -> None:
    ratio = theirs.cpu / ours.cpu
    asked = "" if least is None else f" (at least {least}{'' if goal is None else f', goal {goal}'})"
    cpu = f"CPU {theirs.cpu:8.2f} s / {ours.cpu:6.3f} s = {ratio:6.0f}×{asked}"
    wall = f"wall {theirs.wall / ours.wall:5.0f}×"
    print(f"  {what:28} {cpu}; {wall}; memory {theirs.memory_mb / ours.memory_mb:.1f}×", flush=True)


def generated(path: Path, count: int, seed: int, shape: str) -> Path:
    command = [sys.executable, "-m", "assay", "data", "alm", str(path), "--recordings", str(count)]
    subprocess.run([*command, "--seed", str(seed), "--shape", shape], check=True, stdout=subprocess.DEVNULL)
    return path


def assay(manifest: Path, scratch: Path, output: Path | None = None, runs: int = RUNS) -> Cost:
    """The median of several runs: one takes less time than the noise of a shared machine."""
    costs = []
    for _ in range(runs):
        command = [sys.executable, "-m", "assay.benchmarks.alm_pipeline_benchmark", "--input-manifest", str(manifest)]
        command += ["--benchmark-results-path", str(scratch / "results")]
        parts = scratch / "parts"
        shutil.rmtree(parts, ignore_errors=True)
        costs.append(measured([*command, *(["--output-manifest", str(parts)] if output else [])]))
    if output:
        with output.open("wb") as joined:
            for part in sorted(parts.glob("part-*.jsonl")):
                joined.write(part.read_bytes())
        shutil.rmtree(parts)
    middle = statistics.median(cost.cpu for cost in costs)
    return min(costs, key=lambda cost: abs(cost.cpu - middle))


def bare(python: str, manifest: Path, scratch: Path, output: Path | None = None) -> Cost:
    report = scratch / "bare.json"
    cost = measured(
        [python, str(HERE / "reference.py"), "bare", str(manifest), str(report), *([str(output)] if output else [])]
    )
    told = json.loads(report.read_text())
    return Cost(told["wall_s"], told["cpu_s"], cost.memory_mb)


def executor(python: str, name: str, manifest: Path, scratch: Path) -> tuple[Cost | None, list[str]]:
    report, usage, ray = scratch / "executor.json", scratch / "usage.json", scratch / "ray"
    ray.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    contained = ["unshare", "-n", "-p", "-f", "--mount-proc", sys.executable, str(HERE / "contained.py"), str(usage)]
    environment = {**os.environ, "RAY_TMPDIR": str(ray), "RAY_USAGE_STATS_ENABLED": "0", "LOGURU_LEVEL": "WARNING"}
    command = [*contained, python, str(HERE / "reference.py"), name, str(manifest), str(report)]
    with (scratch / "executor.log").open("wb") as log:
        subprocess.run(command, env=environment, stdout=log, stderr=log, check=False)
    if not report.exists():
        print((scratch / "executor.log").read_text(errors="replace")[-2000:])
        return None, []
    told, spent = json.loads(report.read_text()), json.loads(usage.read_text())
    shutil.rmtree(ray, ignore_errors=True)
    return Cost(told["wall_s"], spent["cpu_s"] - told["not_counted_cpu_s"], spent["largest_process_mb"]), told["hashes"]


def measured(command: list[str]) -> Cost:
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return Cost(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def same(ours: Path, theirs: Path) -> bool:
    """Line by line, byte by byte: floats to the last bit, keys in their order."""
    with ours.open("rb") as left, theirs.open("rb") as right:
        for number, (a, b) in enumerate(zip(left, right, strict=True), 1):
            if a != b:
                print(f"record {number} DIFFERS")
                return False
    print(f"every output record is equal, byte for byte ({number} of them)", flush=True)
    return True


def hashes(path: Path) -> list[str]:
    with path.open("rb") as lines:
        return sorted(hashlib.sha256(line).hexdigest() for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
