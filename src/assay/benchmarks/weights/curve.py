"""The curve: size against the limit and CPU per byte against safetensors, at every setting, over every scenario.

`python -m assay.benchmarks.weights.curve [--scenario S …] [--dtype D …] [--parameters N] [--rounds N] [--json FILE]`.
Every version is committed on the one it was made from and checked out by a repository opened anew; every bit is
compared. The stores take turns, a round goes over all scenarios before the next begins, and the least CPU time of a
step counts: other work on the machine slows memory and processor differently, for seconds to minutes, and rounds in a
row would all meet it. Exit 1 if a floor is missed.
"""

from __future__ import annotations

import argparse
import gc
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from assay.benchmarks.weights.scenarios.chain import ChainRun, VersionChain, best_of, run_chain
from assay.benchmarks.weights.scenarios.scenario_data import (
    REFERENCE_PARAMETERS,
    SCENARIOS,
    ScenarioData,
    scenario_data,
)
from assay.benchmarks.weights.tables.table import Table
from assay.weights.dtype import bits_of
from assay.weights.limit import RepositoryLimit

SETTINGS = ("small", "balanced", "fast")
FLOORS: Mapping[str, tuple[float, float, float]] = {
    "small": (0.98, 0.0, 0.0),
    "balanced": (0.95, 0.06, 0.4),
    "fast": (0.80, 0.2, 0.5),
}
"""Share of the limit; commit and checkout against safetensors' save and load."""


@dataclass(frozen=True)
class SettingPoint:
    scenario: str
    dtype: str
    setting: str
    ratio: float
    limit_ratio: float
    reached: float
    commit: float
    checkout: float
    """Bytes per CPU-second over those of safetensors in the same run."""
    commit_mb_s: float
    checkout_mb_s: float
    above_zipnn_xor: bool | None
    """Whether the versions with a parent take less than zipnn on their XOR with it; None without zipnn or parents."""
    wrong: int

    def misses(self) -> list[str]:
        wanted = zip(("reached", "commit", "checkout"), FLOORS[self.setting], strict=True)
        found = [f"{what} {getattr(self, what):.3f} < {floor}" for what, floor in wanted if getattr(self, what) < floor]
        if self.above_zipnn_xor is False:
            found.append("larger than zipnn with XOR")
        return found + ([f"{self.wrong} tensors are not exact"] if self.wrong else [])


class Course:
    """One scenario in one dtype: the rounds of all stores over it, and what they are judged by."""

    def __init__(self, scenario: str, dtype: str, parameters: int) -> None:
        self._made_from = (scenario, dtype, parameters)
        self._runs: dict[str, list[ChainRun]] = {name: [] for name in ("safetensors", *SETTINGS)}
        self._limit: RepositoryLimit | None = None
        self._zipnn_bytes: int | None = None

    def __str__(self) -> str:
        return " ".join(self._made_from[:2])

    def round(self, folder: Path) -> None:
        """Its data are made anew, which takes a second, because those of all scenarios would fill the memory."""
        scenario, dtype, parameters = self._made_from
        data = scenario_data(scenario, dtype, parameters=parameters)
        chain = VersionChain(data)
        for name, done in self._runs.items():
            path = Path(tempfile.mkdtemp(dir=folder))
            done.append(run_chain(name, chain, path / "store"))
            shutil.rmtree(path)
        if self._limit is None:
            self._limit, self._zipnn_bytes = chain.limit, _zipnn_xor_bytes(data)

    def points(self) -> list[SettingPoint]:
        limit = self._limit
        assert limit is not None, "there was no round yet"
        scenario, dtype, _ = self._made_from
        best = {name: best_of(done) for name, done in self._runs.items()}
        floor = best["safetensors"]
        points = []
        for setting in SETTINGS:
            run = best[setting]
            children = run.stored_bytes - run.first_stored_bytes
            points.append(
                SettingPoint(
                    scenario,
                    dtype,
                    setting,
                    run.ratio,
                    limit.ratio,
                    limit.share_reached(run.stored_bytes),
                    run.commit_mb_per_cpu_s / floor.commit_mb_per_cpu_s,
                    run.checkout_mb_per_cpu_s / floor.checkout_mb_per_cpu_s,
                    run.commit_mb_per_cpu_s,
                    run.checkout_mb_per_cpu_s,
                    None if self._zipnn_bytes is None else children < self._zipnn_bytes,
                    len(run.wrong),
                )
            )
        return points


def _zipnn_xor_bytes(data: ScenarioData) -> int | None:
    """What zipnn makes of every version but the first: the XOR with its parent, or the tensor where there is none."""
    try:
        from zipnn import ZipNN
    except ImportError:
        return None
    total = 0
    for version in data.versions[1:]:
        parent = {} if version.parent is None else data.versions[version.parent].tensors
        for name, tensor in version.tensors.items():
            bits = bits_of(tensor)
            base = parent.get(name)
            if base is not None and base.shape == tensor.shape:
                bits = bits ^ bits_of(base)
                if not bits.any():
                    continue
            coder = ZipNN(input_format="byte", bytearray_dtype=tensor.dtype.name)
            total += len(coder.compress(bits.tobytes()))
    return total


def table_of(points: Sequence[SettingPoint]) -> Table:
    rows = [
        (
            p.scenario,
            p.dtype,
            p.setting,
            f"{p.ratio:.3f}",
            f"{p.limit_ratio:.3f}",
            f"{100 * p.reached:.1f}%",
            f"{p.commit:.3f}",
            f"{p.checkout:.3f}",
            f"{p.commit_mb_s:.0f} / {p.checkout_mb_s:.0f}",
            "; ".join(p.misses()) or "ok",
        )
        for p in points
    ]
    columns = ("Scenario", "Dtype", "Setting", "Ratio", "Limit", "Reached", "Commit", "Checkout", "MB/CPU-s", "Floors")
    notes = ("commit and checkout are bytes per CPU-second over those of safetensors' save and load in the same run",)
    return Table("The curve", columns, tuple(rows), notes=notes)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m assay.benchmarks.weights.curve")
    parser.add_argument("--scenario", action="append", choices=list(SCENARIOS))
    parser.add_argument("--dtype", action="append", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--parameters", type=int, default=REFERENCE_PARAMETERS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args(argv)
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    dtypes = args.dtype or ("float32", "bfloat16", "float16")
    courses = [Course(scenario, dtype, args.parameters) for scenario in args.scenario or SCENARIOS for dtype in dtypes]
    # What is loaded by now stays; looking through it again before every step would take longer than most steps.
    gc.freeze()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.rounds):
            for course in courses:
                print(f"round {number + 1} of {args.rounds}: {course} …", file=sys.stderr, flush=True)
                course.round(Path(folder))
    points = [point for course in courses for point in course.points()]
    print(table_of(points))
    if args.json:
        args.json.write_text(json.dumps([asdict(point) for point in points], indent=1))
    return 1 if any(point.misses() for point in points) else 0


if __name__ == "__main__":
    raise SystemExit(main())
