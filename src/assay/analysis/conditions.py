"""What else happened on the machine while a run was measured, and what that can explain of a difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp, log1p
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal

from assay.analysis.rules import is_wall_clock
from assay.analysis.sentences.metric_words import SideNames
from assay.analysis.sentences.note_sentences import condition, machine_busier
from assay.errors import DataError
from assay.files.reading import SESSION, Unreadable, read_text
from assay.names import list_names
from assay.record import Environment, Record, SessionFolder
from assay.record.metric import Better

if TYPE_CHECKING:
    from assay.analysis.comparison import Comparison

# What two environments differ in, most telling first. It stands beside a verdict and changes none.

Kind = Literal["script", "machine", "load", "system", "package"]
KINDS: tuple[Kind, ...] = ("script", "machine", "load", "system", "package")
_SHORT = 7
"""Letters of a digest that people are shown."""


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same on both sides of a comparison."""

    kind: Kind
    what: str
    base: str | None
    """None: it is not there."""
    head: str | None

    def __str__(self) -> str:
        if self.kind == "script":
            return f"{self.what} changed: {(self.base or '')[:_SHORT]} → {(self.head or '')[:_SHORT]}"
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
    scripts = [str(difference) for difference in differences if difference.kind == "script"]
    others = [str(difference) for difference in differences if difference.kind != "script"]
    shown, said = others[:most], scripts[:most]
    if more := len(scripts) - len(said):
        said.append(f"{more} more scripts changed")
    if shown:
        more = len(others) - len(shown)
        said.append(f"Also different: {', '.join(shown)}" + (f" and {more} more" if more else ""))
    return ". ".join(said)


def script_differences(base: Iterable[Record], head: Iterable[Record]) -> tuple[Difference, ...]:
    """Benchmark scripts that changed between two sides, of entries on both. One that several entries share is told
    once."""
    before, after = ({run.name: run.script for run in side if run.script} for side in (base, head))
    entries: dict[tuple[str, str], list[str]] = {}
    for name in after:
        if name in before and before[name] != after[name]:
            entries.setdefault((before[name], after[name]), []).append(name)
    alone = len(after) == 1
    return tuple(
        Difference("script", "benchmark script" if alone else f"benchmark script of {list_names(names)}", *pair)
        for pair, names in entries.items()
    )


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


STEAL = 0.02
NEIGHBOURS = 0.25
"""Processors that others kept busy."""
THROTTLED = 0.01
WAITED = 0.05
"""Share of the time in which its threads could have run."""


def disturbances(run: Record) -> list[str]:
    usage, found = run.usage, []
    wall = usage.wall_s or run.exec_time_s
    if usage.steal_share > STEAL:
        found.append(f"the hypervisor took {usage.steal_share:.0%} of the CPU time")
    if wall > 0 and usage.neighbour_cpu_s / wall > NEIGHBOURS:
        found.append(f"other processes kept {usage.neighbour_cpu_s / wall:.1f} CPUs busy")
        # Without others its threads can only have waited for each other.
        if (waited := _waited_share(run)) > WAITED:
            found.append(f"it waited for a CPU {waited:.0%} of the time in which it could have run")
    if wall > 0 and usage.throttled_s / wall > THROTTLED:
        found.append(f"its CPU quota held it back for {usage.throttled_s / wall:.0%} of the time")
    return found


def not_alone(run: Record) -> bool:
    """Others took what it could have had; its own quota is another matter."""
    return _share(run, "steal") > STEAL or _share(run, "neighbours") > NEIGHBOURS


# What load from outside can do to a wall-clock metric.

CONTENTION = 0.6
"""Logarithm by which CPU time itself can grow from an idle machine to one whose processors are all busy, since caches
and memory are shared. Five kinds of work beside two processes that computed or copied, on two processors: slopes of 0.0
(streaming), 0.2 (loop, JSON), 0.3 (random reads) and 0.5 ± 0.06 (sorting)."""
SHORTEST_S = 0.1
"""Shortest run for which the kernel's ticks tell what others used; how long their own threads waited is exact."""
_LEAST = 0.01
"""Share of a run's time that is taken to have been its own, whatever the accounts say."""
_SECONDS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0}


@dataclass(frozen=True)
class LoadEffect:
    """What the difference in outside load between two sides can have done to one metric."""

    by: float
    """Logarithm of head over base that load alone can reach: above zero where it makes the head's value larger."""
    slow_by: float
    """The same of the run on the busier side that was held up most."""
    reason: str

    @property
    def factor(self) -> float:
        """How many times as long it can take for the load alone."""
        return exp(abs(self.by))


def load_effect(
    base: Sequence[Record], head: Sequence[Record], metric: str, unit: str | None, better: Better | None,
    sides: SideNames,
) -> LoadEffect | None:  # fmt: skip
    """None where load explains nothing: of what is not timed by the clock on the wall, or under equal load."""
    if not base or not head or not is_wall_clock(metric, unit, better):
        return None
    before, after = ([_stretch(run, metric, unit) for run in side] for side in (base, head))
    # Load that comes and goes moves the mean of the runs, load that stays moves their median too.
    by = max(median(after) - median(before), fmean(after) - fmean(before), key=abs)
    if not by:
        return None
    slow = max(after) - median(before) if by > 0 else median(after) - max(before)
    sign = 1.0 if better == "lower" else -1.0
    return LoadEffect(sign * by, sign * slow, _busier(base, head, by, sides))


def _stretch(run: Record, metric: str, unit: str | None) -> float:
    """Logarithm by which load from outside can have stretched a time of this run: at most all that its threads waited
    for a processor while others used them, what the hypervisor took, and what sharing caches and memory costs.

    It is assumed that load was even over the run, so that a part of the run that only computes waited as long, for each
    second of CPU time, as the whole run did.
    """
    usage = run.usage
    wall = usage.wall_s or run.exec_time_s
    if wall <= 0:
        return 0.0
    outside = outside_cores(run)
    cores = usage.cores or max(usage.peak_threads, 1)
    own = max(usage.cpu_s, _LEAST * wall)
    # With all the processors it can use it still needs this long.
    needed = usage.cpu_s / max(min(cores, usage.peak_threads), usage.cpu_s / wall, 1.0)
    waited = max(wall - needed, 0.0) if usage.run_queue_s is None else usage.run_queue_s
    if outside is not None:
        waited = min(waited, outside * wall)
    taken = wall if metric == "exec_time_s" else _in_seconds(run, metric, unit)
    stretch = log1p(waited / own)
    if taken is not None and taken > waited:
        stretch = min(stretch, -log1p(-waited / taken))
    stolen = min(usage.steal_share * cores, 1 - _LEAST)
    return stretch - log1p(-stolen) + CONTENTION * min((outside or 0.0) / cores, 1.0)


def _in_seconds(run: Record, metric: str, unit: str | None) -> float | None:
    value, scale = run.script_metrics.get(metric), _SECONDS.get((unit or "").strip())
    return value * scale if scale and isinstance(value, int | float) else None


def outside_cores(run: Record) -> float | None:
    """Processors that others kept busy, the hypervisor among them; None of a run too short to tell."""
    usage = run.usage
    wall = usage.wall_s or run.exec_time_s
    if wall < SHORTEST_S:
        return None
    return usage.neighbour_cpu_s / wall + usage.steal_share * (usage.cores or 1)


def _busier(base: Sequence[Record], head: Sequence[Record], by: float, sides: SideNames) -> str:
    """Which side had more load, in the figure that shows it best."""
    names = (sides.head, sides.base) if by > 0 else (sides.base, sides.head)
    ordered = (head, base) if by > 0 else (base, head)
    cores = [[found for run in side if (found := outside_cores(run)) is not None] for side in ordered]
    if all(cores):
        more, less = (median(found) for found in cores)
        if more - less > NEIGHBOURS:
            return machine_busier(names, f"{more:.1f} cores used by others", f"{less:.1f}")
    more, less = (median(_waited_share(run) for run in side) for side in ordered)
    return machine_busier(names, f"runs waited for a CPU {more:.0%} of their time", f"{less:.0%}")


def _waited_share(run: Record) -> float:
    waited = run.usage.run_queue_s or 0.0
    return waited / (waited + run.usage.cpu_s) if waited else 0.0


def unequal_conditions(base: Sequence[Record], head: Sequence[Record], sides: SideNames) -> list[str]:
    return [
        condition(one.what, str(one.base), sides.base, str(one.head), sides.head)
        for one in load_differences(base, head)
    ]


def load_differences(base: Sequence[Record], head: Sequence[Record]) -> list[Difference]:
    """Busy against quiet. Said only where the sides differ: load that both had does not explain a difference."""
    found = []
    for name, threshold, words in (
        ("steal", STEAL, "CPU time taken by the hypervisor"),
        ("neighbours", NEIGHBOURS, "CPUs kept busy by other processes"),
        ("throttled", THROTTLED, "time held back by the CPU quota"),
    ):
        before, after = (_typical(side, name) for side in (base, head))
        if abs(after - before) > threshold and max(before, after) > 1.5 * min(before, after):
            show = "{:.1f}" if name == "neighbours" else "{:.0%}"
            found.append(Difference("load", words, show.format(before), show.format(after)))
    return found


def _typical(side: Sequence[Record], name: str) -> float:
    return median(_share(run, name) for run in side) if side else 0.0


def _share(run: Record, name: str) -> float:
    usage = run.usage
    wall = usage.wall_s or run.exec_time_s
    if name == "steal":
        return usage.steal_share
    if wall <= 0:
        return 0.0
    return (usage.neighbour_cpu_s if name == "neighbours" else usage.throttled_s) / wall


# The environments of the sessions on both sides of a comparison, from their folders as far as they still exist.


@dataclass(frozen=True)
class Surroundings:
    """What one session ran in."""

    environment: Environment
    installed: dict[str, str]
    """Every package, where the session kept the list; its environment names only those that decide."""

    @classmethod
    def of(cls, folder: Path) -> Surroundings | None:
        """None where it cannot be told: a folder that is gone, damaged, or not a session's."""
        try:
            environment = SessionFolder(folder).environment()
        except (DataError, Unreadable, OSError, TypeError):
            return None
        return cls(environment, _read_installed(folder / "artifacts" / "pip-freeze.txt"))

    def against(self, head: Surroundings) -> tuple[Difference, ...]:
        if not (self.installed and head.installed):
            return environment_differences(self.environment, head.environment)
        return environment_differences(self._with_all(), head._with_all())

    def _with_all(self) -> Environment:
        named = {_normal(name): version for name, version in self.environment.packages.items()}
        return replace(self.environment, packages={**named, **self.installed})


def with_surroundings(
    comparison: Comparison,
    base: Sequence[Record],
    head: Sequence[Record],
    base_folders: Iterable[Path],
    head_folders: Iterable[Path],
) -> Comparison:
    """The comparison with what differs besides: between any of the sessions on one side and any on the other."""
    before, after = _read_known(base_folders), _read_known(head_folders)
    found = dict.fromkeys(difference for one in before for other in after for difference in one.against(other))
    both = _in_both(base, head)
    found |= dict.fromkeys(_of_interpreters(*both, before, after))
    differences = sorted(
        [*script_differences(*both), *found, *load_differences(*both)], key=lambda one: KINDS.index(one.kind)
    )
    return replace(comparison, environment=tuple(differences))


def _of_interpreters(
    base: Sequence[Record], head: Sequence[Record], before: Sequence[Surroundings], after: Sequence[Surroundings]
) -> Iterator[Difference]:
    """Differences between the Pythons of entries that have one of their own on either side."""
    for name in dict.fromkeys(run.name for run in head):
        one, other = (next(run for run in side if run.name == name) for side in (base, head))
        if one.environment is not None or other.environment is not None:
            yield from environment_differences(_python(one, before), _python(other, after))


def _python(run: Record, sessions: Sequence[Surroundings]) -> Environment:
    if run.environment is not None:
        return Environment(python=run.environment.python, packages=dict(run.environment.packages))
    said = sessions[0].environment if sessions else Environment()
    return Environment(python=said.python, packages=said.packages)


def _read_known(folders: Iterable[Path]) -> list[Surroundings]:
    return [found for found in map(Surroundings.of, dict.fromkeys(folders)) if found is not None]


def _in_both(base: Sequence[Record], head: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    names = {run.name for run in base} & {run.name for run in head}
    one, other = ([run for run in side if run.counts and run.name in names] for side in (base, head))
    return one, other


def _read_installed(path: Path) -> dict[str, str]:
    try:
        lines = read_text(path, SESSION).splitlines()
    except (FileNotFoundError, Unreadable, OSError):
        return {}
    pairs = (line.partition("==") for line in lines)
    return {_normal(name): version for name, equals, version in pairs if equals}


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")
