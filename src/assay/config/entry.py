"""Words of the files that say what is started, and on what."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config import DEFAULT_GRACE_S
from assay.config.entry_name import ProgramLimits
from assay.config.placeholders import Datasets, UsedDataset, render
from assay.errors import UsageError
from assay.names import unknown

if TYPE_CHECKING:
    from assay.config.entry_config import MetricConfig, RayConfig, Requirement
    from assay.config.service import Service


def resolve_program(first: list[str]) -> list[str]:
    """The first word of a command as it is started: `assay` is the one that runs, wherever it is installed."""
    return [sys.executable, "-m", "assay"] if first == ["assay"] else first


def gpu_numbers(written: int | list[int] | None) -> tuple[int, ...] | None:
    """`gpus: 2` stands for the first two."""
    if written is None:
        return None
    return tuple(range(written)) if isinstance(written, int) else tuple(written)


BUNDLED = Path(__file__).parent.parent / "benchmarks"


class ScriptNotFound(Exception):
    """Fails the entry that asks for it."""


@dataclass(frozen=True)
class Script:
    path: Path

    @classmethod
    def find(cls, name: str, base: str | None, config_folder: Path, is_setup: bool = False) -> Script:
        wanted = Path(name).expanduser()
        if wanted.is_absolute():
            places = [wanted]
        else:
            folders = [Path(base).expanduser()] if base else []
            beside = (["data_prep"] if is_setup else []) + ["scripts"]
            folders += [config_folder, *(config_folder / name for name in beside), BUNDLED]
            places = [folder / wanted for folder in folders]
        for place in places:
            if place.is_file():
                return cls(place.absolute())
        bundled = [path.name for path in BUNDLED.glob("*_benchmark.py")]
        raise ScriptNotFound(f"{unknown('script', name, sorted(bundled))}; looked at {', '.join(map(str, places))}")

    @property
    def is_bundled(self) -> bool:
        return self.path.is_relative_to(BUNDLED)

    def argv(self, interpreter: str | None) -> list[str]:
        if self.path.suffix == ".py" or interpreter:
            if self.is_bundled and not interpreter:
                module = ".".join(self.path.relative_to(BUNDLED).with_suffix("").parts)
                return [sys.executable, "-m", f"assay.benchmarks.{module}"]
            return [interpreter or sys.executable, str(self.path)]
        if not os.access(self.path, os.X_OK):
            raise ScriptNotFound(f"script {self.path} is not executable: chmod +x it, or give an `interpreter`")
        return [str(self.path)]


MOST_VALUES = 1000
"""Values of one scan, and entries of one call: a slip of the pen must not plan a million runs."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


@dataclass(frozen=True)
class Parameter:
    """A name on the command line and the values that stand for `{name}` one after the other."""

    name: str
    values: tuple[str, ...]

    @classmethod
    def parse(cls, line: str) -> Parameter:
        """Reads a parameter as a session keeps it: `threads=1,2,4`."""
        name, _, values = line.partition("=")
        return cls.listed(name, values)

    @classmethod
    def listed(cls, name: str, values: str) -> Parameter:
        """`1,2,4`; a comma of a value is written `\\,`."""
        said = [value.replace("\\,", ",") for value in re.split(r"(?<!\\),", values)]
        if not all(said):
            raise UsageError(f"--parameter {name} {values!r}: write values with commas between them, such as 1,2,4")
        return cls(_check_name(name, "--parameter"), tuple(dict.fromkeys(said)))

    @classmethod
    def scanned(cls, words: Sequence[str]) -> Parameter:
        """NAME MIN MAX [STEP], both ends included; decimal, so that 0.1 steps stay what they are."""
        said = " ".join(words)
        if len(words) not in (3, 4):
            raise UsageError(f"--parameter-scan {said}: write NAME MIN MAX, and STEP if it is not 1")
        try:
            low, high, step = (Decimal(word) for word in (*words[1:], "1")[:3])
        except InvalidOperation:
            raise UsageError(f"--parameter-scan {said}: MIN, MAX and STEP are numbers") from None
        if not all(value.is_finite() for value in (low, high, step)) or step <= 0 or high < low:
            raise UsageError(f"--parameter-scan {said}: MIN must not be above MAX, and STEP must be above 0")
        count = int((high - low) / step) + 1
        if count > MOST_VALUES:
            raise UsageError(f"--parameter-scan {said} has {count:,} values: at most {MOST_VALUES:,} are run")
        return cls(_check_name(words[0], "--parameter-scan"), tuple(f"{low + at * step:f}" for at in range(count)))

    @property
    def line(self) -> str:
        return f"{self.name}=" + ",".join(value.replace(",", "\\,") for value in self.values)


def _check_name(name: str, option: str) -> str:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{option} {name}: a name has letters, digits, _ and -, and begins with a letter")
    return name


def combinations(parameters: Sequence[Parameter]) -> Iterator[Mapping[str, str]]:
    """Each value of each with each of the others; one without anything where there are no parameters."""
    names = [parameter.name for parameter in parameters]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"parameter {twice} is given twice: write all its values into one")
    for values in product(*(parameter.values for parameter in parameters)):
        yield dict(zip(names, values, strict=True))


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with `{name}` replaced by its value; every other brace stays as it is."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


RESULTS_OPTION = ("--benchmark-results-path", "--benchmark_results_path")


@dataclass(frozen=True)
class Entry:
    """One benchmark of a plan: all that can be known before it runs is resolved."""

    name: str
    program: tuple[str, ...]
    """What is started, before its arguments."""
    args: tuple[str, ...]
    """One argument each; only folders that a run makes are still placeholders."""
    timeout_s: float
    """Limit of one run, within `max_timeout_s`."""
    where: str
    """File and line that say it."""
    script: Path | None = None
    interpreter: str | None = None
    """Python of a script that runs with another one than Assay; None: Assay's."""
    problem: str = ""
    """What only this entry got wrong: it fails with this reason, the session goes on."""
    wanted_timeout_s: float | None = None
    """What it asks for, where `max_timeout_s` allows less."""
    job_timeout_s: float = 0.0
    """Limit for a job of a CI that runs this entry alone, in a container that it starts first."""
    grace_s: float = DEFAULT_GRACE_S
    ray: RayConfig | None = None
    service: Service | None = None
    delete_scratch: bool = True
    requirements: tuple[Requirement, ...] = ()
    metrics: Mapping[str, MetricConfig] = field(default_factory=dict)
    repeat: int = 1
    warmup: int = 0
    retries: int = 0
    needs: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    limits: ProgramLimits = ProgramLimits()
    gpus: tuple[int, ...] | None = None
    gpu_mem_use_warning_threshold: float | None = None
    profiler: str | None = None
    sink_data: Mapping[str, Any] = field(default_factory=dict)
    baseline: str | None = None
    canary: bool = False
    workload_version: str | None = None
    """Version of the work that the configuration gives; None: the program's own, if it has one."""
    project: str = ""
    tags: tuple[str, ...] = ()
    is_setup: bool = False
    cwd: Path | None = None
    """Where it runs: the working folder, unless an experiment has checked out another revision."""
    datasets_used: tuple[UsedDataset, ...] = ()
    """Data sets that its arguments name; they are looked for before it runs."""
    prepare: tuple[str, ...] = ()
    """Command before each run, untimed; only from the command line, as are the next two."""
    cleanup: tuple[str, ...] = ()
    """Command after each run that was prepared, however it ended; untimed."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Values that this entry of a scan has; they stand in its arguments already, and go to its records."""

    @property
    def keeps_contract(self) -> bool:
        """Whether it must write params.json and metrics.json: a script must; any other command, and a data setup,
        may."""
        return self.script is not None and not self.is_setup

    def arguments(self, folders: Mapping[str, str]) -> list[str]:
        """Arguments of one run. The results path is added where a script's own arguments do not have it."""
        nothing = Datasets({})
        args = [render(argument, folders, nothing) for argument in self.args]
        if self.keeps_contract and results_path(args) is None:
            args += [RESULTS_OPTION[0], folders["benchmark_results_path"]]
        return args

    def environment(self, folders: Mapping[str, str]) -> dict[str, str]:
        return {name: render(value, folders, Datasets({})) for name, value in self.env.items()}


def results_path(args: list[str]) -> str | None:
    """Where the program was really told to write; the last one counts, as argparse has it."""
    found = None
    for at, argument in enumerate(args):
        option, equals, value = argument.partition("=")
        if option in RESULTS_OPTION:
            found = value if equals else args[at + 1] if at + 1 < len(args) else None
    return found


def split(args: str | list[str]) -> list[str]:
    """Raises ValueError for a quote that is not closed. Each item of a list is one argument already."""
    return shlex.split(args) if isinstance(args, str) else list(args)
