from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from assay.config.entries.entry import Entry
from assay.config.plan import Plan


@dataclass(frozen=True)
class Run:
    """One execution of an entry."""

    entry: Entry
    kind: Literal["run", "warmup"] = "run"
    number: int = 1
    attempt: int = 1

    @property
    def key(self) -> str:
        """Unique in its session."""
        retry = f"-retry-{self.attempt - 1}" if self.attempt > 1 else ""
        return f"{self.entry.name}/{self.kind}-{self.number:02d}{retry}"

    def counts_for(self, entry: Entry) -> bool:
        return self.kind == "run" and self.entry.name == entry.name

    @property
    def folder(self) -> str:
        """Relative to the session's. The only run of an entry is in the entry's own folder."""
        base = self.entry.name
        if self.kind == "warmup" or self.entry.repeat > 1:
            base = f"{base}/{self.kind}-{self.number:02d}"
        return f"{base}/retry-{self.attempt - 1}" if self.attempt > 1 else base

    @property
    def label(self) -> str:
        words = [self.entry.name]
        if self.kind == "warmup":
            words.append(f"warm-up {self.number} of {self.entry.warmup}")
        elif self.entry.repeat > 1:
            words.append(f"run {self.number} of {self.entry.repeat}")
        if self.attempt > 1:
            words.append(f"retry {self.attempt - 1} of {self.entry.retries}")
        return ", ".join(words)


def order_runs(plan: Plan) -> list[Run]:
    """Runs in the order of the plan; repeats are interleaved round by round, so that drift meets all entries alike.

    Runs of an entry that keeps its service follow each other: a server that waits for its next turn would disturb the
    others.
    """
    runs: list[Run] = []
    rounds = max((entry.repeat for entry in plan.entries), default=0)
    for number in range(1, rounds + 1):
        for entry in plan.entries:
            if number == 1:
                runs += [Run(entry, "warmup", warmup) for warmup in range(1, entry.warmup + 1)]
            if entry.service is not None and entry.service.restart == "never":
                runs += [Run(entry, "run", each) for each in range(1, entry.repeat + 1)] if number == 1 else []
            elif number <= entry.repeat:
                runs.append(Run(entry, "run", number))
    return runs


def random_rounds(seed: str) -> Callable[[Plan], list[Run]]:
    """An order that is drawn anew for each round of repeats: no command always follows the same one.

    The draw depends on the seed and the round alone, so that a session that goes on keeps its order.
    """

    def order(plan: Plan) -> list[Run]:
        runs = [Run(entry, "warmup", number) for entry in plan.entries for number in range(1, entry.warmup + 1)]
        for number in range(1, max((entry.repeat for entry in plan.entries), default=0) + 1):
            turn = [Run(entry, "run", number) for entry in plan.entries if number <= entry.repeat]
            random.Random(f"{seed}/{number}").shuffle(turn)
            runs += turn
        return runs

    return order


def order_of(plan: Plan, session: str) -> Callable[[Plan], list[Run]]:
    """The order in which a session of that name goes through the plan."""
    return random_rounds(session) if plan.commands else order_runs
