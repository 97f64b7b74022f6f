"""A finder at the very end of `sys.meta_path`: asked only for what nothing else has found, so a real package wins.

Any interpreter that a benchmark program runs in may load this file, from `path/` beside it and without Assay being
installed there. So it imports nothing of Assay's, and keeps to what Python 3.7 can read.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

NOTES = "ASSAY_STAND_INS_FILE"
"""Variable with the file to which a program's interpreter adds the stand-ins it has loaded, a line each."""

_SCHEDULERS = {
    name: ("assay.loadgen", name)
    for name in ("LoadScheduler", "OfflineLoadScheduler", "PoissonLoadScheduler", "ConstantLoadScheduler")
}
STAND_INS: dict[str, dict[str, tuple[str, str]]] = {
    "benchmarks.analysis": {"BenchmarkAnalyzer": ("assay.analysis", "BenchmarkAnalyzer")},
    "benchmarks.base": {"BenchmarkSuite": ("assay.benchmarks.weights", "BenchmarkSuite")},
    "benchmarks.main": {
        "BenchmarkOrchestrator": ("assay.benchmarks.weights", "BenchmarkOrchestrator"),
        "BenchmarkProfile": ("assay.benchmarks.weights", "BenchmarkProfile"),
    },
    "benchmarks.monitoring": {"MetricsCollector": ("assay.sinks", "MetricsCollector")},
    "loadgen": _SCHEDULERS,
    "loadgen.schedulers": _SCHEDULERS,
    "loadgen.schedulers.scheduler": {"LoadScheduler": ("assay.loadgen", "LoadScheduler")},
    "loguru": {"logger": ("assay.compat.plain_logger", "logger")},
    "nemo_curator.tasks": {"Task": ("assay", "Task")},
    "nemo_curator.tasks.utils": {"TaskPerfUtils": ("assay", "TaskPerfUtils")},
    "runner.sinks.sink": {"Sink": ("assay.sinks", "Sink")},
    "stages.stage": {
        "Stage": ("assay.pipeline", "RunStage"),
        "log_phase": ("assay.pipeline.run_stage", "log_phase"),
        "log_phase_single": ("assay.pipeline.run_stage", "log_phase_single"),
    },
    "utils.component": {"get_component": ("assay.compat.user_code", "get_component")},
    "utils.schemas": {
        "LoadGenModel": ("assay.loadgen.colocation.colocation_config", "LoadgenConfig"),
        "PipelineModel": ("assay.loadgen.colocation.colocation_config", "PipelineConfig"),
        "Query": ("assay.pipeline.query", "Query"),
        "StageModel": ("assay.loadgen.colocation.colocation_config", "StageConfig"),
    },
    "utils.schemas.query": {"Query": ("assay.pipeline.query", "Query")},
}
"""Module → its names → where Assay has them."""
PROGRAMS = {
    f"benchmarks.{suite}": ("benchmarks", "weights", f"{suite}.py")
    for suite in ("accuracy", "clustering", "compression", "memory", "performance", "scalability")
}
"""What is started with `python -m` → Assay's program."""
PACKAGES = frozenset(name[:at] for name in STAND_INS for at, sign in enumerate(name) if sign == ".")
"""Modules that are there to hold others."""
TOP_LEVEL = frozenset(name.partition(".")[0] for name in STAND_INS)
INSTALLED_WHOLE = frozenset({"loguru", "nemo_curator"})
"""Packages that somebody else publishes: to one that is installed, nothing is added. The others are folders of the
user's, with or without the modules that the framework had in them."""

ONLY = "and Assay stands in only for"
_ASSAY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class StandIns:
    """The finder and loader."""

    def __init__(self) -> None:
        self._used: list[str] = []

    def take_used(self) -> list[str]:
        """The modules it has answered with since this was last asked, those that only hold others left out."""
        used, self._used = self._used, []
        return used

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if name == "assay":  # An interpreter that has no Assay.
            return spec_from_file_location(
                name, os.path.join(_ASSAY, "__init__.py"), submodule_search_locations=[_ASSAY]
            )
        top, dot, _ = name.partition(".")
        if top not in TOP_LEVEL:
            return None
        standing_in = not dot or isinstance(getattr(sys.modules.get(top), "__loader__", None), StandIns)
        if (name in STAND_INS or name in PACKAGES) and (standing_in or top not in INSTALLED_WHOLE):
            return ModuleSpec(name, self, origin=__file__, is_package=name in PACKAGES)  # type: ignore[arg-type]
        if name in PROGRAMS:
            self._note(name)
            return spec_from_file_location(name, os.path.join(_ASSAY, *PROGRAMS[name]))
        if dot and standing_in:
            raise ModuleNotFoundError(f"No module named {name!r}: {what_there_is(top)}", name=name)
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        module.__file__ = __file__
        names = STAND_INS.get(name)
        if names is None:
            return
        for each, (where, ours) in names.items():
            module.__dict__[each] = _ours(name, where, ours)
        self._note(name)

    def _note(self, name: str) -> None:
        self._used.append(name)
        file = os.environ.get(NOTES)
        if file:
            try:
                with open(file, "a", encoding="utf-8") as notes:
                    notes.write(name + "\n")
            except OSError:
                pass  # Its folder is gone or full: nothing that the program should feel.


FINDER = StandIns()


def install() -> bool:
    """Puts the finder of this process last; False if it was there already."""
    if FINDER in sys.meta_path:
        return False
    sys.meta_path.append(FINDER)
    return True


def give_way(name: str, folder: str) -> None:
    """Called by the package `name` of `folder`, which stands on PYTHONPATH before the installed packages: what
    would be imported without it takes its place."""
    install()
    path = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    spec = next(filter(None, (finder.find_spec(name, path) for finder in sys.meta_path)))
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        if spec.loader is not None:
            spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise


def what_there_is(top: str) -> str:
    ours = ", ".join(f"{module} ({', '.join(names)})" for module, names in STAND_INS.items() if _is_in(module, top))
    return f"{top} is not installed, {ONLY} {ours}"


def _is_in(module: str, top: str) -> bool:
    return (module + ".").startswith(top + ".")


def _ours(module: str, where: str, name: str) -> Any:
    try:
        return getattr(import_module(where), name)
    except Exception as error:
        version = "{}.{}".format(*sys.version_info[:2])
        old = sys.version_info < (3, 11)
        why = f"it needs Python 3.11, this is {version}" if old else f"{type(error).__name__}: {error}"
        message = f"{module} is not installed, and Assay's {name} cannot stand in: {why}"
        raise ImportError(message, name=module) from error
