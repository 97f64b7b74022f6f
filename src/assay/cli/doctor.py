from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from assay.capture import machine
from assay.capture.nvidia import Nvidia, nvidia
from assay.cli.extras import PACKAGE, extras, missing
from assay.errors import UsageError
from assay.native.library import absence, kernel


@dataclass(frozen=True)
class Finding:
    what: str
    ok: bool
    detail: str


def arguments(parser: ArgumentParser) -> None:
    pass


def run(args: Namespace) -> int:
    """What works on this machine, and what to install for what does not. Missing extras are no failure."""
    findings = [*_machine(), _compiled(), *_isolation(), *_programs(), *_extras()]
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{'✓' if finding.ok else '✗'} {finding.what.ljust(width)}  {finding.detail}")
    return 0


def _machine() -> Iterator[Finding]:
    yield Finding("Python", sys.version_info >= (3, 11), f"{platform.python_version()} at {sys.executable}")
    yield Finding(
        "machine", True, f"{machine.cpu_model()}, {machine.cores()} cores, {machine.memory_mb() / 1024:.0f} GB"
    )
    yield _gpus(nvidia())
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    yield Finding("disk", free > 1, f"{free:.1f} GB free here")
    load = os.getloadavg()[0]
    quiet = load < machine.cores() / 2
    yield Finding("quiet", quiet, f"load {load:.1f}" + ("" if quiet else ": other work will be in the numbers"))
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor.is_file():
        name = governor.read_text().strip()
        hint = "" if name == "performance" else "; for steadier numbers: cpupower frequency-set -g performance"
        yield Finding("CPU governor", name == "performance", name + hint)


def _compiled() -> Finding:
    try:
        why = absence()
    except UsageError as error:
        why = str(error)
    return Finding("compiled library", why is None, why or kernel())


def _gpus(found: Nvidia) -> Finding:
    driver = f"driver {found.driver}" if found.driver else "no driver"
    if found.gpus:
        return Finding("GPU", True, f"{', '.join(found.gpus)}; {driver}, CUDA up to {found.cuda}")
    why = f" ({found.problem})" if found.problem else ""
    return Finding("GPU", False, f"none that NVML can see{why}, {driver}; entries with `gpus:` will fail")


def _isolation() -> Iterator[Finding]:
    try:
        command = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "ip", "link", "set", "lo", "up"]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        works, why = answer.returncode == 0, answer.stderr.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        works, why = False, str(error)
    hint = f"{why}; needs root and the packages util-linux and iproute2"
    yield Finding("isolation: namespace", works, "works" if works else hint)


def _programs() -> Iterator[Finding]:
    for name, purpose in (("git", "commits in records"), ("docker", "running sessions in a container")):
        found = shutil.which(name)
        yield Finding(name, found is not None, found or f"not found; needed for {purpose}")
    beside = Path(sys.executable).parent / "py-spy"
    spy = str(beside) if beside.is_file() else shutil.which("py-spy")
    yield Finding("py-spy", spy is not None, spy or "pip install 'assay-bench[profile]'")


def _extras() -> Iterator[Finding]:
    try:
        found = extras()
    except PackageNotFoundError:
        yield Finding("extras", False, f"{PACKAGE} is not installed as a package, so nothing says what its extras need")
        return
    for extra in found:
        lacking = missing(extra)
        detail = "installed" if not lacking else f"pip install '{PACKAGE}[{extra}]'   (no {', '.join(lacking)})"
        yield Finding(f"extra {extra}", not lacking, detail)
