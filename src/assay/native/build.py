"""Compiles `c/` into one shared library: run by the package's build (`hatch_build.py`) and by `make setup`.

It imports nothing of Assay, which is not installed while its package is being built.

    python src/assay/native/build.py           makes src/assay/native/lib/libassay.so
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = HERE / "c"
LIBRARY = HERE / "lib" / "libassay.so"
FLAGS = (
    "-O3",
    "-std=gnu11",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
)
"""No contraction and no fast-math: sums must round as the rules say, on every machine."""
VECTOR = {
    ".avx2.c": ("-mavx2", "-mbmi", "-mbmi2"),
    ".avx512.c": ("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx2", "-mbmi", "-mbmi2"),
}
"""Endings of files that use more than every processor of the kind has; built for x86-64 only."""


def sources_digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*.[ch]")):
        digest.update(path.relative_to(SOURCES).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def compiler() -> str | None:
    return shutil.which(os.environ.get("CC", "gcc")) or shutil.which("cc")


def build(
    to: Path = LIBRARY, command: Sequence[str] | None = None, flags: Sequence[str] = (), machine: str = ""
) -> Path | None:
    """The library, or None where there is no compiler. `command` and `machine`: another compiler and its target."""
    if command is None:
        found = compiler()
        if found is None:
            return None
        command = [found]
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent) as scratch:
        objects = [_compile(command, path, Path(scratch), flags) for path in _files(machine or platform.machine())]
        made = Path(scratch, to.name)
        _run([*command, "-shared", *flags, "-o", str(made), *map(str, objects), "-lm"])
        made.replace(to)
    return to


def _files(machine: str) -> list[Path]:
    vector = machine in ("x86_64", "AMD64")
    return [path for path in sorted(SOURCES.rglob("*.c")) if vector or not path.name.endswith(tuple(VECTOR))]


def _compile(command: Sequence[str], source: Path, scratch: Path, flags: Sequence[str]) -> Path:
    more = next((words for ending, words in VECTOR.items() if source.name.endswith(ending)), ())
    made = scratch / (source.relative_to(SOURCES).as_posix().replace("/", "-") + ".o")
    define = f'-DASSAY_SOURCES="{sources_digest()}"'
    _run([*command, *FLAGS, *more, *flags, define, "-I", str(SOURCES), "-c", str(source), "-o", str(made)])
    return made


def _run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}\n{done.stderr}")


if __name__ == "__main__":
    built = build()
    print(built or "no C compiler found: Assay works without its compiled library, some parts of it slower")
    sys.exit(0)
