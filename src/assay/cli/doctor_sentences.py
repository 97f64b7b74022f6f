"""What `assay doctor` says of a machine: what is there, or what is missing and how to get it."""

from __future__ import annotations

from collections.abc import Sequence


def python(version: str, where: str) -> str:
    return f"{version} at {where}"


def machine(cpu: str, cores: int, memory_gb: float) -> str:
    return f"{cpu}, {cores} core{'' if cores == 1 else 's'}, {memory_gb:.0f} GB"


def gpus(names: Sequence[str], driver: str, cuda: str) -> str:
    return f"{', '.join(names)}; driver {driver}, CUDA up to {cuda}"


def no_gpu(driver: str, problem: str) -> str:
    """`problem`: what NVIDIA's library says; empty if it says nothing."""
    why = f" ({problem})" if problem else ""
    return f"none found{why}, {f'driver {driver}' if driver else 'no driver'}; entries with `gpus:` will fail"


def disk(free_gb: float, enough: bool) -> str:
    return f"{free_gb:.1f} GB free here" + ("" if enough else "; make room: results need some")


def load(load: float, cores: int, quiet: bool) -> str:
    busy = f"load {load:.1f} on {cores} core{'' if cores == 1 else 's'}"
    return busy if quiet else f"{busy}: other work will disturb the numbers; measure when it is done"


def governor(name: str, steady: bool) -> str:
    return name if steady else f"{name}; for steadier numbers: cpupower frequency-set -g performance"


def isolation(works: bool, why: str) -> str:
    return "works" if works else f"{why}; needs root and the packages util-linux and iproute2"


def program(where: str | None, purpose: str) -> str:
    return where or f"not found; needed for {purpose}"


def extra(package: str, name: str, lacking: Sequence[str]) -> str:
    return "installed" if not lacking else f"pip install '{package}[{name}]'   (missing: {', '.join(lacking)})"


def no_extras_known(package: str) -> str:
    return f"{package} is not installed as a package, so its extras are not known"
