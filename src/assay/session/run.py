from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.config.entry import Entry
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


def ordered_runs(plan: Plan) -> list[Run]:
    """As written; repeats are interleaved round by round, so that drift of the machine meets all entries alike.

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
