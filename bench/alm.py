"""What ALM curation costs on this machine: against a recording's length, over workers, in memory, and for a small run.

python -m bench.alm [--only length,forms,workers,memory,small] [--entries 1000000]
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.benchmarks.data.alm import SHAPES, recordings, write_manifest

FORMS: dict[str, Callable[[str], str]] = {
    "usual": str,
    "compact": lambda line: json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":")),
    "escaped": lambda line: json.dumps(json.loads(line)),
    "compact and escaped": lambda line: json.dumps(json.loads(line), separators=(",", ":")),
    "integer speakers": lambda line: re.sub(r'"speaker": "speaker_(\d+)"', r'"speaker": \1', line),
}
LENGTHS = (100, 300, 1000, 3000)
SEGMENTS = 120_000
"""Segments in every manifest, however long its recordings are."""


@dataclass(frozen=True)
class Cost:
    wall: float
    cpu: float
    memory_mb: float


def main(argv: Sequence[str] | None = None) -> int:
    words = ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None, allow_abbrev=False)
    words.add_argument("--only", default="length,forms,workers,memory,small")
    words.add_argument("--entries", type=int, default=1_000_000, help="of the longer run for memory")
    words.add_argument("--seed", type=int, default=int(time.time()))
    args = words.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="alm-bench-") as folder:
        scratch = Path(folder)
        print(f"seed {args.seed}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        for part in args.only.split(","):
            {"length": length, "forms": forms, "workers": workers, "memory": memory, "small": small}[part](
                scratch, args.seed, args.entries
            )
    return 0


def length(scratch: Path, seed: int, _: int) -> None:
    """The exponent of CPU time against segments, the least of several runs, an empty run subtracted."""
    for percentage in ("50", "100"):
        empty = least(manifest(scratch, "one", 1, 1, seed), "--overlap-percentage", percentage)
        points = []
        for segments in LENGTHS:
            count = SEGMENTS // segments
            cpu = least(manifest(scratch, f"of-{segments}", count, segments, seed), "--overlap-percentage", percentage)
            points.append((segments, (cpu - empty) / count))
        shown = ", ".join(f"{segments}: {cpu * 1e6:.0f} µs" for segments, cpu in points)
        print(
            f"overlap {percentage}%: CPU a recording by segments: {shown}; exponent {slope(points):.3f} (at most 1.15)",
            flush=True,
        )


def forms(scratch: Path, seed: int, _: int) -> None:
    """Other forms of the same manifest against the usual one, the least of several runs that take turns."""
    for shape, count in (("short", 10_000), ("long", 200)):
        lines = list(recordings(count, SHAPES[shape], seed))
        costs = dict.fromkeys(FORMS, math.inf)
        for name, rewritten in FORMS.items():
            text = "".join(rewritten(line) + "\n" for line in lines)
            (scratch / f"{shape}-{name}.jsonl").write_text(text, encoding="utf-8")
        for _ in range(7):
            for name in FORMS:
                costs[name] = min(costs[name], least(scratch / f"{shape}-{name}.jsonl", runs=1))
        usual, *others = (f"{name} {cost:.3f} s ({cost / costs['usual']:.2f})" for name, cost in costs.items())
        print(f"{count} {shape} recordings: {usual}; {', '.join(others)} (at most 1.30)", flush=True)


def workers(scratch: Path, seed: int, _: int) -> None:
    """Two workers against two independent processes with one, on the same work, run together."""
    path = scratch / "short.jsonl"
    write_manifest(path, 2000, SHAPES["short"], seed)
    shares = []
    for _ in range(5):
        began = time.perf_counter()
        both = [start(path, scratch / f"r{n}", "--repeat-factor", "50") for n in (1, 2)]
        for one in both:
            finished(one)
        apart = time.perf_counter() - began
        began = time.perf_counter()
        finished(start(path, scratch / "r3", "--repeat-factor", "100", "--workers", "2"))
        shares.append(apart / (time.perf_counter() - began))
    best = sorted(shares)[len(shares) // 2]
    print(f"local with two workers: {best:.0%} of two independent processes (at least 90%)", flush=True)


def memory(scratch: Path, seed: int, entries: int) -> None:
    path = scratch / "thousand.jsonl"
    write_manifest(path, 1000, SHAPES["short"], seed)
    for count in (10_000, entries):
        cost = finished(start(path, scratch / "r", "--repeat-factor", str(count // 1000)))
        rate = count / cost.cpu
        print(
            f"{count:>9} entries: {cost.memory_mb:.0f} MB at most, {cost.cpu:.2f} s CPU, {rate:.0f} a CPU-second",
            flush=True,
        )


def small(scratch: Path, seed: int, _: int) -> None:
    path = scratch / "five.jsonl"
    write_manifest(path, 5, replace(SHAPES["short"], segments=64, word_timings=True), seed)
    print(f"five recordings from the command line: {least(path):.3f} s CPU (under 1 s)", flush=True)


def manifest(scratch: Path, name: str, count: int, segments: int, seed: int) -> Path:
    path = scratch / f"{name}.jsonl"
    if not path.exists():
        shape = replace(SHAPES["short"], segments=segments, spread=0.0, segment_s=6.0, low_rate=0.0)
        write_manifest(path, count, shape, seed)
    return path


def least(path: Path, *words: str, runs: int = 7) -> float:
    return min(finished(start(path, path.parent / "results", *words)).cpu for _ in range(runs))


def start(path: Path, results: Path, *words: str) -> tuple[subprocess.Popen[bytes], float]:
    command = [sys.executable, "-m", "assay.benchmarks.alm_pipeline_benchmark", "--input-manifest", str(path)]
    command += ["--benchmark-results-path", str(results), *words]
    return subprocess.Popen(command), time.perf_counter()


def finished(started: tuple[subprocess.Popen[bytes], float]) -> Cost:
    process, began = started
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("the benchmark failed")
    return Cost(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def slope(points: Sequence[tuple[int, float]]) -> float:
    """Least squares through the logarithms."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / sum((x - x_mean) ** 2 for x in xs)


if __name__ == "__main__":
    raise SystemExit(main())
