from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.record.strict_json import encode
from assay.record.task_perf import TaskPerf
from assay.untrusted.inert_pickle import Inert, InertUnpickler
from assay.untrusted.json_text import parse_json
from assay.untrusted.read_limit import TASKS
from assay.untrusted.regular_file import RegularFile
from assay.untrusted.unreadable import Unreadable

MOST_WARNINGS = 20
"""Lines left out that are named; of more it is said how many."""


@dataclass
class TasksRead:
    tasks: list[TaskPerf] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def write_tasks(path: Path, tasks: Iterable[TaskPerf]) -> None:
    with path.open("w", encoding="utf-8") as out:
        for task in tasks:
            out.write(encode(task.to_json()) + "\n")


def read_tasks(folder: Path) -> TasksRead:
    """Tasks are extra: whatever is wrong with them is a warning, never a failure."""
    read = TasksRead()
    for name, reader in (("tasks.jsonl", _read_lines), ("tasks.pkl", _read_pickle)):
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
        read.tasks.extend(_perfs(content))
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, KeyError, IndexError, AttributeError,
            MemoryError, RecursionError, OverflowError, UnicodeDecodeError, ImportError) as error:  # fmt: skip
        read.warnings.append(f"tasks.pkl could not be read: {type(error).__name__}: {error}")
        return
    foreign = sorted(name for name in unpickler.unknown if not name.startswith(_KNOWN))
    if foreign:
        shown = ", ".join(foreign[:5]) + (" …" if len(foreign) > 5 else "")
        read.warnings.append(f"tasks.pkl names {shown}: not run, not imported, kept as inert data")


_KNOWN = ("assay.record.", "nemo_curator.", "ray_curator.")


def _perfs(content: Any) -> Iterator[TaskPerf]:
    """Finds the timed calls in what a benchmark pickled: a list, a mapping of lists, or a workflow's result."""
    pending = deque([content])
    seen: set[int] = set()
    while pending:
        item = pending.popleft()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Inert):
            perf = _perf(item)
            if perf is not None:
                yield perf
            pending.extend(value for key, value in item.state.items() if key in _CONTAINERS)
        elif isinstance(item, Mapping):
            if isinstance(item.get("stage"), str):
                yield TaskPerf.from_json(item)
            else:
                pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)


_CONTAINERS = ("_stage_perf", "stage_perf", "pipeline_tasks", "tasks", "items")


def _perf(item: Inert) -> TaskPerf | None:
    state = item.state
    stage = state.get("stage_name", state.get("stage"))
    if not isinstance(stage, str):
        return None
    metrics: dict[str, Any] = dict(state["metrics"]) if isinstance(state.get("metrics"), Mapping) else {}
    metrics.update(
        {key: value for key, value in state.items() if key not in ("metrics", "custom_metrics", "invocation")}
    )
    custom = state.get("custom_metrics")
    if isinstance(custom, Mapping):
        metrics.update({f"custom.{key}": value for key, value in custom.items()})
    written = {"stage": stage, "metrics": metrics, "invocation": state.get("invocation")}
    return TaskPerf.from_json(written)
