"""What Assay costs by itself.

CPU, not wall: a busy machine does not change it. Per run: sessions of no-op entries against the same processes
started bare, in interleaved pairs; what a session costs once is measured with a session of one entry and taken off.
Measured time: `true` by `assay run` and by `hyperfine -N`, in turns.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENTRIES = 40
PAIRS = 7
TURNS = 20
RUNS = 10
NO_OP = """
import sys
path = sys.argv[sys.argv.index("--benchmark-results-path") + 1]
open(path + "/params.json", "w").write("{}")
open(path + "/metrics.json", "w").write('{"is_success": true}')
"""


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_and_wall(argv: list[str], cwd: Path) -> tuple[float, float]:
    cpu, wall = children_cpu(), time.perf_counter()
    subprocess.run(argv, cwd=cwd, check=True, stdout=subprocess.DEVNULL)
    return children_cpu() - cpu, time.perf_counter() - wall


def session(folder: Path, entries: int) -> tuple[float, float]:
    config = folder / f"session-{entries}.yaml"
    lines = "".join(f"  - {{name: e{number}, script: no_op.py}}\n" for number in range(entries))
    config.write_text(f"results_dir: {folder}/results-{random.random()}\nentries:\n{lines}")
    return cpu_and_wall([sys.executable, "-m", "assay", "run", "--config", str(config)], folder)


def bare(folder: Path, entries: int) -> tuple[float, float]:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    argv = [sys.executable, str(folder / "no_op.py"), "--benchmark-results-path", str(out)]
    results = [cpu_and_wall(argv, folder) for _ in range(entries)]
    return sum(cpu for cpu, _ in results), sum(wall for _, wall in results)


def per_run(folder: Path) -> None:
    (folder / "no_op.py").write_text(NO_OP)
    session(folder, 1)
    cpu: list[float] = []
    wall: list[float] = []
    for _ in range(PAIRS):
        order = [
            lambda: ("s", session(folder, ENTRIES)),
            lambda: ("1", session(folder, 1)),
            lambda: ("b", bare(folder, ENTRIES)),
        ]
        random.shuffle(order)
        got = dict(measure() for measure in order)
        one_bare = [value / ENTRIES for value in got["b"]]
        for at, values in ((0, cpu), (1, wall)):
            values.append(1000 * ((got["s"][at] - got["1"][at]) / (ENTRIES - 1) - one_bare[at]))
    print(f"per no-op entry beyond the bare process: {statistics.median(cpu):.1f} ms CPU (goal: at most 30), ", end="")
    print(f"{statistics.median(wall):.1f} ms wall; medians of {PAIRS} pairs of {ENTRIES}")


def start_up(folder: Path) -> None:
    ratios, ours = [], []
    for _ in range(15):
        base = cpu_and_wall([sys.executable, "-c", "pass"], folder)[0]
        mine = cpu_and_wall([sys.executable, "-m", "assay", "--help"], folder)[0]
        ratios.append(mine / base)
        ours.append(mine)
    print(f"assay --help: {statistics.median(ratios):.1f} times the CPU of python -c pass ", end="")
    print(f"({1000 * statistics.median(ours):.0f} ms)")


def measured_time(folder: Path) -> None:
    if not shutil.which("hyperfine"):
        print("measured time: no hyperfine here to compare with (Debian package hyperfine)")
        return
    ours: list[float] = []
    theirs: list[float] = []
    for turn in range(TURNS):
        results = folder / f"turn-{turn}"
        command = ["run", "--runs", str(RUNS), "--results-dir", str(results), "--", "true"]
        subprocess.run([sys.executable, "-m", "assay", *command], check=True, capture_output=True)
        lines = next(results.glob("*/results.jsonl")).read_text().splitlines()
        ours += [1000 * json.loads(line)["exec_time_s"] for line in lines]
        exported = folder / "hyperfine.json"
        command = ["hyperfine", "-N", "--runs", str(RUNS), "--export-json", str(exported), "true"]
        subprocess.run(command, check=True, capture_output=True)
        theirs += [1000 * seconds for seconds in json.loads(exported.read_text())["results"][0]["times"]]
    one, other = statistics.quantiles(ours, n=4), statistics.quantiles(theirs, n=4)
    print(f"true: {one[1]:.2f} ms by assay run, {other[1]:.2f} ms by hyperfine -N (goal: within 1 ms); ", end="")
    print(f"medians of {TURNS} turns of {RUNS}; lower quartiles {one[0]:.2f} and {other[0]:.2f} ms, ", end="")
    print(f"least {min(ours):.2f} and {min(theirs):.2f} ms (load of the machine: {os.getloadavg()[0]:.1f})")


def sampler() -> None:
    """Eleven sleeping processes, ten samples a second, as the supervisor does it."""
    from assay.process.sampler import Sampler
    from assay.process.tree import Accounts, Tree

    children = [subprocess.Popen(["sleep", "60"]) for _ in range(11)]
    with tempfile.NamedTemporaryFile() as file:
        one = Sampler(Tree(os.getpid()), file.name)
        one.sample(none := Accounts(set()))
        begun = time.process_time()
        for _ in range(300):
            one.sample(none)
        used = (time.process_time() - begun) / 300
    for child in children:
        child.kill()
        child.wait()
    print(f"sampler: {used * 10:.2%} of a core for eleven processes at 10 Hz (goal: at most 1%)")


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        per_run(Path(temporary))
        start_up(Path(temporary))
        measured_time(Path(temporary))
    sampler()


if __name__ == "__main__":
    main()
