"""The compiled library on arm64: built with Debian's cross compiler, run by qemu, and compared with this machine's.

    python -m tools.native_arm64 [--recordings 2000] [--seed 1]

Sums must come out the same to the last bit. arm64 has a fused multiply-add, which compilers use unless they are told
not to (-ffp-contract=off, build.py): with it, sums would differ in their last digit.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.benchmarks.data.alm import SHAPES, recordings
from assay.native import build

DRIVER = Path(__file__).parents[1] / "tests" / "native" / "arm64" / "curate.c"
FIXTURE = Path(__file__).parents[1] / "tests" / "fixtures" / "audio" / "alm" / "sample_input.jsonl"
CROSS, RUN = "aarch64-linux-gnu-gcc", ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
PACKAGES = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"


def main(argv: Sequence[str] | None = None) -> int:
    words = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    words.add_argument("--recordings", type=int, default=2000)
    words.add_argument("--seed", type=int, default=1)
    args = words.parse_args(argv)
    missing = [name for name in (CROSS, RUN[0]) if shutil.which(name) is None]
    if missing:
        print(f"no {' and no '.join(missing)} here: apt-get install {PACKAGES}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="assay-arm64-") as folder:
        here, there = Path(folder, "here"), Path(folder, "arm64")
        ours = [str(made(["gcc"], "x86_64", here))]
        theirs = [*RUN, str(made([CROSS], "aarch64", there))]
        different = 0
        for name, lines in manifests(args.recordings, args.seed):
            path = Path(folder, "manifest.jsonl")
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            scalar, vector = curated([*ours, "0", str(path)]), curated([*ours, "9", str(path)])
            arm64 = curated([*theirs, "0", str(path)])
            equal = scalar == vector == arm64
            different += not equal
            print(f"{name}: {arm64.splitlines()[-1].decode()}: {'equal' if equal else 'DIFFERENT'}", flush=True)
    return 1 if different else 0


def made(compiler: list[str], machine: str, folder: Path) -> Path:
    """The driver, beside the library that it is linked to."""
    library = build.build(folder / "libassay.so", compiler, machine=machine)
    assert library is not None
    flags = ["-O2", "-I", str(build.SOURCES), "-L", str(folder), "-Wl,-rpath,$ORIGIN"]
    driver = folder / "curate"
    subprocess.run([*compiler, *flags, str(DRIVER), "-o", str(driver), "-lassay"], check=True)
    return driver


def manifests(count: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    yield "the five recordings", FIXTURE.read_text(encoding="utf-8").splitlines()
    for shape, size in (("short", count), ("odd", count), ("long", max(1, count // 100))):
        yield shape, list(recordings(size, SHAPES[shape], seed))
    ordinary = [json.loads(line) for line in recordings(count // 4, SHAPES["short"], seed + 1)]
    yield "compact", [json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in ordinary]
    yield "escaped", [json.dumps(entry) for entry in ordinary]


def curated(command: Sequence[str]) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
