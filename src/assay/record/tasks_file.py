from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.record.strict_json import encode
from assay.record.task_perf import TaskPerf
from assay.untrusted.inert_pickle import Inert, InertUnpickler

MAX_BYTES = 512 * 2**20
"""A larger file of tasks is not read: it would take the session's memory with it."""


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
        path = folder / name
        if not path.is_file():
            continue
        if path.stat().st_size > MAX_BYTES:
            read.warnings.append(f"{name} is larger than {MAX_BYTES >> 20} MB and was not read")
            continue
        reader(path, read)
        return read
    return read


def _read_lines(path: Path, read: TasksRead) -> None:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                written = json.loads(line)
                if not isinstance(written, dict):
                    raise ValueError("is not an object")
                read.tasks.append(TaskPerf.from_json(written))
            except (ValueError, RecursionError) as error:
                read.warnings.append(f"tasks.jsonl:{number}: {error}; the line was left out")


def _read_pickle(path: Path, read: TasksRead) -> None:
    unpickler = InertUnpickler(path.read_bytes())
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
    pending: list[Any] = [content]
    seen: set[int] = set()
    while pending:
        item = pending.pop(0)
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
