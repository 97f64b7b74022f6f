from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config.entries.program_limits import ProgramLimits
from assay.config.reading.placeholders import Datasets, UsedDataset, render

if TYPE_CHECKING:  # pydantic: what no file says, such as `assay load`, starts without it
    from assay.config.entries.entry_config import MetricConfig
    from assay.config.ray_config import RayConfig
    from assay.config.requirement import Requirement
    from assay.config.service.service import Service

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
    grace_s: float = 5.0
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
