"""`tasks.pkl`: timed calls for whoever reads them with nemo-curator's `TaskPerfUtils`, where Assay is not installed.

That asks a task for `_stage_perf`, and each of those for `stage_name` and `items()`. Two classes of the standard
library can carry these, so the file opens in any environment and depends on no version of nemo-curator.
"""

from __future__ import annotations

import pickle
from collections import UserDict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from assay.files.json_text import encode, parse_json
from assay.files.pickles import Inert, InertUnpickler
from assay.files.reading import TASKS, RegularFile, Unreadable, storable
from assay.files.writing import open_new
from assay.record import TASKS_FILE, TASKS_PICKLE
from assay.record.task import TaskPerf

CLASSES = ("types.SimpleNamespace", "collections.UserDict")


def pickle_tasks(path: Path, tasks: Iterable[TaskPerf]) -> None:
    with open_new(path, "wb") as out:
        pickle.dump([_task(task) for task in tasks], out, protocol=4)


def _task(call: TaskPerf) -> SimpleNamespace:
    perf: UserDict[str, float] = UserDict(call.metrics)
    attributes: dict[str, Any] = {"stage_name": call.stage, "invocation": call.invocation}
    vars(perf).update(attributes)
    return SimpleNamespace(task_id=call.invocation, _stage_perf=[perf])


MOST_WARNINGS = 20
"""Most lines left out that are named; further ones are counted."""


@dataclass
class TasksRead:
    tasks: list[TaskPerf] = field(default_factory=list)
    """Each call once."""
    pipelines: dict[str, list[TaskPerf]] = field(default_factory=dict)
    """Tasks by pipeline, where a program pickled several; for any other program, all of them under an empty name."""
    warnings: list[str] = field(default_factory=list)


def write_tasks(path: Path, tasks: Iterable[TaskPerf]) -> None:
    with open_new(path) as out:
        for task in tasks:
            out.write(encode(task.to_json()) + "\n")


def read_tasks(folder: Path) -> TasksRead:
    """Tasks are extra: whatever is wrong with them is a warning, never a failure."""
    read = TasksRead()
    for name, reader in ((TASKS_FILE, _read_lines), (TASKS_PICKLE, _read_pickle)):
        try:
            with RegularFile(folder / name, TASKS) as file:
                reader(file, read)
            return read
        except FileNotFoundError:
            continue
        except Unreadable as error:
            read.warnings.append(f"{name} {error.reason}; {'what follows' if read.tasks else 'it'} was not read")
    return read


def _read_lines(file: RegularFile, read: TasksRead) -> None:
    read.pipelines[""] = read.tasks
    left_out = 0
    for number, line in enumerate(file.lines(TASKS.most_bytes), 1):
        if not line.strip():
            continue
        try:
            written = parse_json(line, f"tasks.jsonl:{number}")
            if not isinstance(written, dict):
                raise Unreadable(f"tasks.jsonl:{number}", "is not an object")
            read.tasks.append(TaskPerf.from_json(written))
        except (Unreadable, ValueError) as error:
            left_out += 1
            if left_out <= MOST_WARNINGS:
                why = error.reason if isinstance(error, Unreadable) else error
                read.warnings.append(f"tasks.jsonl:{number}: {why}; the line was left out")
    if left_out > MOST_WARNINGS:
        read.warnings.append(f"tasks.jsonl: {left_out - MOST_WARNINGS} more lines were left out")


def _read_pickle(file: RegularFile, read: TasksRead) -> None:
    unpickler = InertUnpickler(file.read())
    try:
        content = unpickler.load()
        known: dict[int, TaskPerf] = {}
        for name, inside in _pipelines(content).items():
            read.pipelines[name] = list(_perfs(inside, known))
        read.tasks.extend(known.values())
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError,
            MemoryError, RecursionError, OverflowError, UnicodeDecodeError, ImportError) as error:  # fmt: skip
        read.warnings.append(f"tasks.pkl could not be read: {type(error).__name__}: {error}")
        return
    foreign = sorted(name for name in unpickler.unknown if not name.startswith(_KNOWN))
    if foreign:
        shown = ", ".join(foreign[:5]) + (" …" if len(foreign) > 5 else "")
        read.warnings.append(f"tasks.pkl names {shown}: not run, not imported, kept as inert data")


_KNOWN = ("assay.record.", "nemo_curator.", "ray_curator.", *CLASSES)


def _pipelines(content: Any) -> Mapping[str, Any]:
    """A list of tasks has no name; a workflow's result, or a mapping of lists, has one a pipeline."""
    inside = content.state if isinstance(content, Inert) else content
    if isinstance(inside, Mapping):
        named = inside.get("pipeline_tasks", None if isinstance(content, Inert) else inside)
        if isinstance(named, Mapping) and not isinstance(named.get("stage"), str):
            return {storable(str(name)): tasks for name, tasks in named.items()}
    return {"": content}


def _perfs(content: Any, known: dict[int, TaskPerf]) -> Iterator[TaskPerf]:
    """Finds the timed calls in what a benchmark pickled. `known`: those found before, by the object that holds them."""
    pending = deque([content])
    seen: set[int] = set()
    while pending:
        item = pending.popleft()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Inert):
            perf = known.get(id(item)) or _perf(item)
            if perf is not None:
                known[id(item)] = perf
                yield perf
            pending.extend(value for key, value in item.state.items() if key in _CONTAINERS)
        elif isinstance(item, Mapping):
            if isinstance(item.get("stage"), str):
                yield known.setdefault(id(item), TaskPerf.from_json(item))
            else:
                pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)


_VALUES = ("metrics", "data")
_NO_VALUES = (*_VALUES, "custom_metrics", "invocation")
_CONTAINERS = ("_stage_perf", "stage_perf", "pipeline_tasks", "tasks", "items")


def _perf(item: Inert) -> TaskPerf | None:
    state = item.state
    stage = state.get("stage_name", state.get("stage"))
    if not isinstance(stage, str):
        return None
    metrics: dict[str, Any] = dict(next((state[key] for key in _VALUES if isinstance(state.get(key), Mapping)), {}))
    metrics.update({key: value for key, value in state.items() if key not in _NO_VALUES})
    custom = state.get("custom_metrics")
    if isinstance(custom, Mapping):
        metrics.update({f"custom.{key}": value for key, value in custom.items()})
    written = {"stage": stage, "metrics": metrics, "invocation": state.get("invocation")}
    return TaskPerf.from_json(written)
