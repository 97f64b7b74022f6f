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

from assay.cli import doctor_sentences as said
from assay.cli.extras import PACKAGE, extras, missing
from assay.errors import UsageError
from assay.native.library import absence, kernel
from assay.session import machine
from assay.session.machine import Nvidia, nvidia


@dataclass(frozen=True)
class Finding:
    what: str
    ok: bool
    detail: str


def arguments(parser: ArgumentParser) -> None:
    pass


def run(args: Namespace) -> int:
    """What works on this machine, and what to install for what does not. Missing extras are no failure."""
    findings = [*_machine(), _library(), *_isolation(), *_programs(), *_extras()]
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{'✓' if finding.ok else '✗'} {finding.what.ljust(width)}  {finding.detail}")
    return 0


def _machine() -> Iterator[Finding]:
    yield Finding("Python", sys.version_info >= (3, 11), said.python(platform.python_version(), sys.executable))
    yield Finding("machine", True, said.machine(machine.cpu_model(), machine.cores(), machine.memory_mb() / 1024))
    yield _gpus(nvidia())
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    yield Finding("disk", free > 1, said.disk(free, free > 1))
    load = os.getloadavg()[0]
    quiet = load < machine.cores() / 2
    yield Finding("quiet", quiet, said.load(load, machine.cores(), quiet))
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor.is_file():
        name = governor.read_text().strip()
        steady = name == "performance"
        yield Finding("CPU governor", steady, said.governor(name, steady))


def _library() -> Finding:
    try:
        why = absence()
    except UsageError as error:
        why = str(error)
    return Finding("compiled library", why is None, why or kernel())


def _gpus(found: Nvidia) -> Finding:
    if found.gpus:
        return Finding("GPU", True, said.gpus(found.gpus, found.driver or "not known", found.cuda or "not known"))
    return Finding("GPU", False, said.no_gpu(found.driver or "", found.problem or ""))


def _isolation() -> Iterator[Finding]:
    try:
        command = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "ip", "link", "set", "lo", "up"]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        works, why = answer.returncode == 0, answer.stderr.strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        works, why = False, str(error)
    yield Finding("isolation: namespace", works, said.isolation(works, why))


def _programs() -> Iterator[Finding]:
    for name, purpose in (("git", "commits in records"), ("docker", "running sessions in a container")):
        found = shutil.which(name)
        yield Finding(name, found is not None, said.program(found, purpose))
    beside = Path(sys.executable).parent / "py-spy"
    spy = str(beside) if beside.is_file() else shutil.which("py-spy")
    yield Finding("py-spy", spy is not None, spy or said.extra(PACKAGE, "profile", ["py-spy"]))


def _extras() -> Iterator[Finding]:
    try:
        found = extras()
    except PackageNotFoundError:
        yield Finding("extras", False, said.no_extras_known(PACKAGE))
        return
    for extra in found:
        lacking = missing(extra)
        yield Finding(f"extra {extra}", not lacking, said.extra(PACKAGE, extra, lacking))
