"""`tasks.pkl`: timed calls for whoever reads them with nemo-curator's `TaskPerfUtils`, where Assay is not installed.

That asks a task for `_stage_perf`, and each of those for `stage_name` and `items()`. Two classes of the standard
library can carry these, so the file opens in any environment and depends on no version of nemo-curator.
"""

from __future__ import annotations

import pickle
from collections import UserDict
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from assay.record.task_perf import TaskPerf
from assay.untrusted.writing import open_new

CLASSES = ("types.SimpleNamespace", "collections.UserDict")


def pickle_tasks(path: Path, tasks: Iterable[TaskPerf]) -> None:
    with open_new(path, "wb") as out:
        pickle.dump([_task(task) for task in tasks], out, protocol=4)


def _task(call: TaskPerf) -> SimpleNamespace:
    perf: UserDict[str, float] = UserDict(call.metrics)
    attributes: dict[str, Any] = {"stage_name": call.stage, "invocation": call.invocation}
    vars(perf).update(attributes)
    return SimpleNamespace(task_id=call.invocation, _stage_perf=[perf])
