"""What two environments differ in, most telling first. It stands beside a verdict and changes none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from assay.record import Environment

Kind = Literal["machine", "load", "system", "package"]
KINDS: tuple[Kind, ...] = ("machine", "load", "system", "package")


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same on both sides of a comparison."""

    kind: Kind
    what: str
    base: str | None
    """None: it is not there."""
    head: str | None

    def __str__(self) -> str:
        if self.base is None:
            return f"{self.what} {self.head} added"
        return f"{self.what} {self.base} removed" if self.head is None else f"{self.what} {self.base} → {self.head}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def environment_differences(base: Environment, head: Environment) -> tuple[Difference, ...]:
    """What one side does not know of itself is no difference: records of older versions say less."""
    return (*_machine(base, head), *_system(base, head), *_packages(base.packages, head.packages))


def also_different(differences: Sequence[Difference], most: int | None = 4) -> str:
    """One line for a person; nothing where nothing differs."""
    if not differences:
        return ""
    shown = [str(difference) for difference in differences[:most]]
    more = len(differences) - len(shown)
    return f"Also different: {', '.join(shown)}" + (f" and {more} more" if more else "")


def _machine(base: Environment, head: Environment) -> Iterator[Difference]:
    yield from _compare("machine", "CPU", base.cpu_model, head.cpu_model)
    yield from _compare("machine", "cores", base.cores, head.cores)
    yield from _compare("machine", "memory", _gigabytes(base), _gigabytes(head))
    yield from _compare("machine", "GPU", _gpus(base), _gpus(head))
    yield from _compare("machine", "GPU driver", base.gpu_driver, head.gpu_driver)
    yield from _compare("machine", "CUDA", base.cuda, head.cuda)


def _system(base: Environment, head: Environment) -> Iterator[Difference]:
    yield from _compare("system", "container", base.container_image or "none", head.container_image or "none")
    yield from _compare("system", "OS", base.os, head.os)
    yield from _compare("system", "kernel", base.kernel, head.kernel)
    yield from _compare("system", "Python", base.python, head.python)
    yield from _compare("system", "Assay", base.assay, head.assay)


def _compare(kind: Kind, what: str, base: object, head: object) -> Iterator[Difference]:
    if base and head and base != head:
        yield Difference(kind, what, str(base), str(head))


def _gigabytes(environment: Environment) -> str:
    """Memory in whole GB, as a machine's class counts it: the kernel's own share differs from boot to boot."""
    return f"{round(environment.memory_mb / 1024)} GB" if environment.memory_mb else ""


def _gpus(environment: Environment) -> str:
    return " + ".join(environment.gpus) or "none"


def _packages(base: Mapping[str, str], head: Mapping[str, str]) -> Iterator[Difference]:
    """Other versions before what came or went; in the order of the head, which has the packages that decide first."""
    if not base or not head:
        return
    for name in [name for name in head if name in base and base[name] != head[name]]:
        yield Difference("package", name, base[name], head[name])
    for name in [name for name in base if name not in head]:
        yield Difference("package", name, base[name], None)
    for name in [name for name in head if name not in base]:
        yield Difference("package", name, None, head[name])
