"""Builds of the library and of fuzz targets under AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.native.fuzz.target import HERE, Target

from assay.native import build

CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
QUIET = ("-g", "-O1", "-fno-omit-frame-pointer", "-Wno-unused-function", "-Wno-unused-const-variable")


def fuzzer(target: Target, folder: Path) -> Path:
    """A fuzzer built by clang, with libFuzzer as its main program and its coverage counters in the library."""
    clang = [_needed("clang")]
    # Casts of floats that do not fit are undefined too, but not in clang's `undefined`.
    flags = (*CHECKS, *QUIET, "-fsanitize=float-cast-overflow", "-fsanitize=fuzzer-no-link")
    library = build.build(folder / "libassay.so", clang, flags)
    return _linked([*clang, *flags, "-fsanitize=fuzzer"], [target.source], folder / target.name, library)


def replayer(target: Target, library: Path) -> Path:
    """A program that is given files with inputs, built by the compiler that the library is made with."""
    sources = [target.source, HERE / "replay.c"]
    return _linked(
        [_needed(build.compiler()), *CHECKS, *QUIET], sources, library.parent / f"{target.name}-replay", library
    )


def sanitized_library(folder: Path) -> Path:
    made = build.build(folder / "libassay.so", [_needed(build.compiler())], (*CHECKS, *QUIET))
    assert made is not None
    return made


def _linked(command: list[str], sources: list[Path], to: Path, library: Path | None) -> Path:
    assert library is not None
    words = [*command, "-std=gnu11", "-I", str(build.SOURCES), *map(str, sources), str(library), "-o", str(to), "-lm"]
    done = subprocess.run([*words, f"-Wl,-rpath,{library.parent}"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stderr}")
    return to


def _needed(compiler: str | None) -> str:
    found = shutil.which(compiler) if compiler else None
    if found is None:
        raise SystemExit(f"{compiler or 'a C compiler'} is not installed: make fuzz installs clang, make setup gcc")
    return found
