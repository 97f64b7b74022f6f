"""Compiles the kernel and keeps it under a name that changes with its sources, flags and machine."""

from __future__ import annotations

import os
import platform
import zlib
from pathlib import Path

SOURCES = Path(__file__).parent
FLAGS = ("-O3", "-std=gnu11", "-ffp-contract=off", "-fPIC", "-shared", "-fno-math-errno")
"""No contraction and no fast-math: sums must round as the rules say, on every machine."""


def library_path(folder: Path) -> Path:
    key = zlib.crc32(" ".join((*FLAGS, platform.machine())).encode())
    for source in sorted(os.listdir(SOURCES)):
        if source.endswith((".c", ".h")):
            key = zlib.crc32((SOURCES / source).read_bytes(), key)
    return folder / f"alm-{key:08x}.so"


def folders() -> tuple[Path, Path]:
    """Beside the sources if that can be written to, otherwise the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return SOURCES / "built", Path(cache) / "assay" / "kernels"


def find() -> Path | None:
    return next((path for folder in folders() if (path := library_path(folder)).is_file()), None)


def build() -> Path | None:
    """None where there is no compiler: everything works without, only slower."""
    import shutil
    import subprocess

    compiler = shutil.which(os.environ.get("CC", "gcc")) or shutil.which("cc")
    if compiler is None:
        return None
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return _compile(compiler, library_path(folder))
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


def _compile(compiler: str, path: Path) -> Path:
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        Path(scratch, "powers.h").write_text(_powers())
        made = Path(scratch, path.name)
        command = [
            compiler,
            *FLAGS,
            "-I",
            scratch,
            "-I",
            str(SOURCES),
            "-o",
            str(made),
            str(SOURCES / "kernel.c"),
            "-lm",
        ]
        subprocess.run(command, check=True, capture_output=True)
        made.replace(path)
    return path


def _powers() -> str:
    """Powers of ten from -292 to 324 as 128-bit significands, rounded up."""
    rows = []
    for exponent in range(-292, 325):
        shift = ((exponent * 1741647) >> 19) - 127
        above, below = (10**exponent, 1) if exponent >= 0 else (1, 10**-exponent)
        above, below = (above, below << shift) if shift >= 0 else (above << -shift, below)
        significand = -(-above // below)
        rows.append(f"{{{significand >> 64:#x}u, {significand & (2**64 - 1):#x}u}}")
    return f"#define POWERS_ZERO 292\nstatic const uint64_t POWERS[617][2] = {{{', '.join(rows)}}};\n"


if __name__ == "__main__":
    built = find() or build()
    print(built or "no C compiler found: ALM curation will run in plain Python, about a hundred times slower")
