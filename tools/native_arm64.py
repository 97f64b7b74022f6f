"""The compiled library on arm64: built with Debian's cross compiler, run by qemu, and compared with this machine's.

    python -m tools.native_arm64 [--recordings 2000] [--documents 2000] [--seed 1]

What the loops give must be the same to the last bit: curated recordings; fields, texts, digests and signatures of
documents. The readers of a server's answers run there too, on the inputs that the fuzzer begins with and those that it
found something with, each as a whole and in pieces. arm64 has a fused multiply-add, which compilers use unless they
are told not to (-ffp-contract=off, build.py): with it, sums would differ in their last digit.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.native.fuzz import targets
from tests.native.fuzz.target import HERE, Target

from assay.benchmarks.data.alm import SHAPES, recordings
from assay.benchmarks.data.documents import Corpus, write_documents
from assay.native import build

TESTS = Path(__file__).parents[1] / "tests"
DRIVERS = TESTS / "native" / "arm64"
FIXTURE = TESTS / "fixtures" / "audio" / "alm" / "sample_input.jsonl"
READERS = ("http", "deltas")
"""Fuzz targets: these loops have one version for all processors, so that there is nothing to compare."""
REPLAY = HERE / "replay.c"
CROSS, RUN = "aarch64-linux-gnu-gcc", ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
PACKAGES = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"


def main(argv: Sequence[str] | None = None) -> int:
    words = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    words.add_argument("--recordings", type=int, default=2000)
    words.add_argument("--documents", type=int, default=2000)
    words.add_argument("--seed", type=int, default=1)
    args = words.parse_args(argv)
    missing = [name for name in (CROSS, RUN[0]) if shutil.which(name) is None]
    if missing:
        print(f"no {' and no '.join(missing)} here: apt-get install {PACKAGES}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="assay-arm64-") as folder:
        here, there = Path(folder, "here"), Path(folder, "arm64")
        build.build(here / "libassay.so", ["gcc"], machine="x86_64")
        build.build(there / "libassay.so", [CROSS], machine="aarch64")
        different = 0
        given = {"curate.c": manifests(args.recordings, args.seed), "documents.c": corpora(args.documents, args.seed)}
        for source, inputs in given.items():
            ours, theirs = linked(["gcc"], [source], here), linked([CROSS], [source], there)
            for name, content in inputs:
                path = Path(folder, "input.jsonl")
                path.write_bytes(content)
                scalar, vector = (said([ours, level, str(path)]) for level in ("0", "9"))
                arm64 = said([*RUN, theirs, "0", str(path)])
                equal = scalar == vector == arm64
                different += not equal
                print(f"{name}: {last_line(arm64)}: {'equal' if equal else 'DIFFERENT'}", flush=True)
        for name in READERS:
            print(f"{name}: {replayed(targets.load(name), there)} inputs read without a finding", flush=True)
    return 1 if different else 0


def linked(compiler: list[str], sources: Sequence[str | Path], folder: Path) -> str:
    """A driver, beside the library that it is linked to."""
    flags = ["-O2", "-I", str(build.SOURCES), "-L", str(folder), "-Wl,-rpath,$ORIGIN"]
    driver = folder / Path(sources[0]).stem
    files = [str(DRIVERS / source) for source in sources]
    subprocess.run([*compiler, *flags, *files, "-o", str(driver), "-lassay"], check=True)
    return str(driver)


def replayed(target: Target, folder: Path) -> int:
    """Inputs that the target was given on arm64; it ends at the first of which a statement does not hold."""
    program = linked([CROSS], [target.source, REPLAY], folder)
    files = []
    for number, data in enumerate((*target.seeds(), *(data for _, data in target.replayed()))):
        files.append(folder / f"{target.name}-{number}")
        files[-1].write_bytes(data)
    said([*RUN, program, *map(str, files)])
    return len(files)


def manifests(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    yield "the five recordings", FIXTURE.read_bytes()
    for shape, size in (("short", count), ("odd", count), ("long", max(1, count // 100))):
        yield shape, as_lines(recordings(size, SHAPES[shape], seed))
    ordinary = [json.loads(line) for line in recordings(count // 4, SHAPES["short"], seed + 1)]
    yield "compact", as_lines(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in ordinary)
    yield "escaped", as_lines(json.dumps(entry) for entry in ordinary)


def corpora(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory(prefix="assay-arm64-") as folder:
        write_documents(Path(folder), Corpus(documents=count, seed=seed))
        content = b"".join(path.read_bytes() for path in sorted(Path(folder).rglob("part-*.jsonl")))
    yield "documents", content
    yield "escaped documents", as_lines(json.dumps(json.loads(line)) for line in content.splitlines())
    fields = targets.load("fields")
    yield "odd lines", b"\n".join((*fields.seeds(), *(data for _, data in fields.replayed())))


def as_lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def said(command: Sequence[str]) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def last_line(output: bytes) -> str:
    return output.splitlines()[-1].decode()


if __name__ == "__main__":
    raise SystemExit(main())
