"""Costs of a whole process on one core: CPU seconds with start-up, and peak memory."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROUNDS = 3
ONE_THREAD = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Entrant:
    name: str
    command: Sequence[str]
    """`{out}` stands for the folder that it may write to."""
    answer: Callable[[Path], object]
    """What it found, from that folder, in a form that is equal where the answers are."""


@dataclass(frozen=True)
class Cost:
    cpu: float
    memory_mb: float


def run(command: Sequence[str], core: int, log: Path) -> Cost:
    """Runs a command; its children count too, as far as it waits for them."""
    child = os.fork()
    if child == 0:
        try:
            os.sched_setaffinity(0, {core})
            with log.open("wb") as out:
                os.dup2(out.fileno(), 1)
                os.dup2(out.fileno(), 2)
            os.execvpe(command[0], list(command), {**os.environ, **ONE_THREAD})
        finally:
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    if status:
        print(log.read_text(errors="replace"), file=sys.stderr)
        raise SystemExit(f"failed: {' '.join(command)}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def alternate(
    entrants: Sequence[Entrant], scratch: Path, rounds: int = ROUNDS, same: bool = True
) -> tuple[dict[str, Cost], dict[str, Any]]:
    """The least cost of each over the rounds, and its answer, which has to be the same for all if `same` says so."""
    core = max(os.sched_getaffinity(0))
    costs: dict[str, list[Cost]] = {entrant.name: [] for entrant in entrants}
    answers: dict[str, Any] = {}
    for number in range(rounds):
        for entrant in entrants:
            out = scratch / "out"
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
            command = [word.replace("{out}", str(out)) for word in entrant.command]
            costs[entrant.name].append(run(command, core, scratch / "log"))
            if number == 0:
                answers[entrant.name] = entrant.answer(out)
    for name, answer in answers.items():
        if same and answer != answers[entrants[0].name]:
            raise SystemExit(f"{name} and {entrants[0].name} do not give the same answer")
    least = {
        name: Cost(min(cost.cpu for cost in each), min(cost.memory_mb for cost in each)) for name, each in costs.items()
    }
    return least, answers
