"""Reads what a program wrote in a process of its own, which can be killed.

A pickle of 246 bytes can ask for years of work, and a file of 500 MB for more memory than there is. So whatever is
not small and plain is read under a limit of time and memory; the few kB that most programs write are read at once.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import assay
from assay.files.json_text import decode, encode, read_json, untag
from assay.files.reading import MB, RESULT, Unreadable
from assay.record import METRICS_FILE, PARAMS_FILE, TASKS_FILE, TASKS_PICKLE, TaskPerf
from assay.record.metric import DETAILS, VALUES, doubts, together
from assay.record.results_file import read_warnings
from assay.record.task import with_task_metrics
from assay.record.tasks_file import TasksRead, read_tasks


@dataclass
class ProgramResults:
    """What a benchmark program wrote, as far as it can be read."""

    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    metrics_detail: Mapping[str, Any] = field(default_factory=dict)
    tasks: list[TaskPerf] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_results(folder: Path, required: bool, tasks: bool = True) -> ProgramResults:
    results = ProgramResults()
    results.params = _read(folder / PARAMS_FILE, required, results.problems)
    results.metrics = _read(folder / VALUES, required, results.problems)
    read = read_tasks(folder) if tasks else TasksRead()
    results.tasks, results.warnings = read.tasks, list(read.warnings)
    details = _read(folder / DETAILS, False, results.warnings)
    results.warnings += doubts(together(results.metrics, details))
    results.metrics, results.metrics_detail, more = with_task_metrics(results.metrics, details, read.pipelines)
    results.warnings += [*more, *read_warnings(folder)]
    return results


def _read(path: Path, required: bool, problems: list[str]) -> Mapping[str, Any]:
    try:
        content = read_json(path, RESULT, untag)
    except FileNotFoundError:
        if required:
            problems.append(f"wrote no {path.name} in {path.parent}")
        return {}
    except Unreadable as error:
        problems.append(f"{path.name} {error.reason}")
        return {}
    if not isinstance(content, dict):
        problems.append(f"{path.name} holds a {type(content).__name__}, not an object of names and values")
        return {}
    return content


SMALL = MB
"""Bytes of a file that is read at once."""
SECONDS, SECONDS_PER_MB = 10.0, 2.0
MEMORY, MEMORY_PER_BYTE = 1024 * MB, 24
_FILES = (PARAMS_FILE, METRICS_FILE, "metrics_detail.json", TASKS_FILE, TASKS_PICKLE)
_PLAIN = _FILES[:4]
_SOURCE = str(Path(assay.__file__).parent.parent)
_START = f"import sys; sys.path.append({_SOURCE!r}); from assay.session.results.program_results import main; main()"
_NO_MEMORY = 71
"""Exit code of a reader that the memory limit stopped."""


def results_of(folder: Path, required: bool) -> ProgramResults:
    """What the program wrote. Tasks that cannot be read within the limits cost a warning, anything else makes the run
    invalid."""
    if _is_small(folder, _FILES):
        return read_results(folder, required)
    results = _read_apart(folder, required, tasks=True)
    if isinstance(results, ProgramResults):
        return results
    why = results
    if _is_small(folder, _PLAIN[:3]):
        rest: ProgramResults | str = read_results(folder, required, tasks=False)
    else:
        rest = _read_apart(folder, required, tasks=False)
    if isinstance(rest, str):
        return ProgramResults(problems=[f"its results could not be read: {rest}"])
    rest.warnings.append(f"its tasks could not be read: {why}; they were left out")
    return rest


def _is_small(folder: Path, names: tuple[str, ...]) -> bool:
    for name in names:
        try:
            size = os.lstat(folder / name).st_size
        except OSError:
            continue
        if size > SMALL or (name == TASKS_PICKLE and not os.path.lexists(folder / TASKS_FILE)):
            return False
    return True


def _read_apart(folder: Path, required: bool, tasks: bool) -> ProgramResults | str:
    """The results, or why there are none."""
    size = _size(folder)
    limit_s, memory = SECONDS + SECONDS_PER_MB * size / MB, MEMORY + MEMORY_PER_BYTE * size
    words = [os.fspath(folder), str(int(required)), str(int(tasks)), str(memory)]
    # -I -S: nothing of the user's site or environment has a part in it.
    reader = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _START, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        answer, _ = reader.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return f"that took longer than {limit_s:.0f} s"
    finally:
        reader.kill()
        reader.wait()
    if reader.returncode == _NO_MEMORY:
        return f"that took more memory than {memory // MB} MB"
    if reader.returncode:
        return f"the process that read them ended with code {reader.returncode}"
    return _from_json(decode(answer))


def _size(folder: Path) -> int:
    sizes = 0
    for name in _FILES:
        try:
            sizes += min(os.lstat(folder / name).st_size, 512 * MB)
        except OSError:
            continue
    return sizes


def _from_json(written: dict[str, Any]) -> ProgramResults:
    tasks = [TaskPerf.from_json(task) for task in written.pop("tasks")]
    return ProgramResults(tasks=tasks, **written)


def main() -> None:
    folder, required, tasks, memory = sys.argv[1:]
    limit = min(int(memory), _physical() * 3 // 4)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        results = read_results(Path(folder), required == "1", tasks=tasks == "1")
        answer = encode({**asdict(results), "tasks": [task.to_json() for task in results.tasks]}).encode()
        with open(1, "wb") as out:
            out.write(answer)
    except MemoryError:
        os._exit(_NO_MEMORY)


def _physical() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
