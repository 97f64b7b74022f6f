"""A wheel just installed, in an environment without a compiler: what its first run costs beside its second.

    python -m bench.native [--recordings 3000] [--rounds 5]

Every round has an environment of its own. Bytecode is compiled by the install, as pip does it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from assay.benchmarks.data.alm import SHAPES, write_manifest

ROOT = Path(__file__).parents[1]
UV = str(Path(sys.executable).parent / "uv")
MOST = 1.10


def main(argv: Sequence[str] | None = None) -> int:
    words = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    words.add_argument("--recordings", type=int, default=3000)
    words.add_argument("--rounds", type=int, default=5)
    args = words.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="bench-native-") as folder:
        scratch = Path(folder)
        manifest = scratch / "manifest.jsonl"
        write_manifest(manifest, args.recordings, SHAPES["short"], seed=os.getpid())
        uv("build", "--wheel", "--out-dir", str(scratch / "dist"), str(ROOT))
        (wheel,) = (scratch / "dist").glob("*.whl")
        print(f"{wheel.name}, {args.recordings} recordings, load {os.getloadavg()[0]:.1f}", flush=True)
        ratios = []
        for number in range(args.rounds):
            python = installed(wheel, scratch / f"venv-{number}")
            first, second, third = (cpu(python, manifest, scratch / "results") for _ in range(3))
            ratios.append(first / min(second, third))
            print(f"  first {first:.3f} s CPU, then {second:.3f} and {third:.3f}: {ratios[-1]:.2f}", flush=True)
    middle = statistics.median(ratios)
    print(f"first run of a fresh wheel: {middle:.2f} of the next ones (at most {MOST:.2f})")
    return 0 if middle <= MOST else 1


def installed(wheel: Path, folder: Path) -> Path:
    python = folder / "bin" / "python"
    core = str(ROOT / "requirements" / "core.txt")
    uv("venv", "--python", sys.executable, str(folder))
    uv("pip", "install", "--python", str(python), "--compile-bytecode", "--require-hashes", "-r", core)
    uv("pip", "install", "--python", str(python), "--compile-bytecode", "--no-deps", str(wheel))
    return python


def uv(*words: str) -> None:
    subprocess.run([UV, "--quiet", *words], check=True)


def cpu(python: Path, manifest: Path, results: Path) -> float:
    """CPU seconds of one run and all it starts. Nothing but Python is on the path."""
    command = [str(python), "-m", "assay.benchmarks.alm_pipeline_benchmark", "--input-manifest", str(manifest)]
    environment = {"PATH": str(python.parent)}
    process = subprocess.Popen([*command, "--benchmark-results-path", str(results)], env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    raise SystemExit(main())
