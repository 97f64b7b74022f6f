"""Makes the compiled library part of the package: in a wheel for this platform, or in place for an editable install.
Puts the examples and the commit into what is built, so that `assay init --examples` and `assay --version` know them.

Without a compiler the editable install succeeds without it; a wheel is then refused unless ASSAY_PURE=1 asks for one
that serves every platform, slower.
"""

from __future__ import annotations

import os
import platform
import re
import runpy
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            self._describe(build_data)
        if self.target_name != "wheel" or (version != "editable" and os.environ.get("ASSAY_PURE") == "1"):
            return
        native = Path(self.root, "src", "assay", "native")
        made = runpy.run_path(str(native / "build.py"))["build"]()
        if version == "editable":
            return
        if made is None:
            raise SystemExit(
                "a wheel needs a C compiler (gcc or cc); ASSAY_PURE=1 makes one without the compiled library"
            )
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(made)}"
        build_data["force_include"][str(made)] = "assay/native/lib/libassay.so"

    def _describe(self, build_data: dict[str, Any]) -> None:
        """A wheel that is built from an sdist finds the commit there, among the sources."""
        inside = "assay" if self.target_name == "wheel" else "src/assay"
        commit = commit_of(Path(self.root))
        if commit and not Path(self.root, "src", "assay", COMMIT).exists():
            self._made = tempfile.TemporaryDirectory()
            written = Path(self._made.name, COMMIT)
            written.write_text(f"{commit}\n", encoding="utf-8")
            build_data["force_include"][str(written)] = f"{inside}/{COMMIT}"
        if self.target_name == "wheel":
            build_data["force_include"][str(Path(self.root, "examples"))] = "assay/examples"


COMMIT = "commit.txt"


def commit_of(root: Path) -> str:
    """Empty where there is no git, or no repository of ours: an sdist may lie inside another one."""
    if not (root / ".git").exists():
        return ""
    try:
        command = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


OLDEST = (2, 17)
"""The glibc from which on every installer knows `manylinux_X_Y`."""


def platform_tag(library: Path) -> str:
    """The oldest glibc that has every symbol the library asks for (PEP 600). It needs libc and libm, nothing else."""
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", library.read_bytes())
    if not versions:
        return sysconfig.get_platform().replace("-", "_").replace(".", "_")
    major, minor = max(OLDEST, *((int(major), int(minor)) for major, minor in versions))
    return f"manylinux_{major}_{minor}_{platform.machine()}"
