"""Runs that a session folder shows to have been started, whatever the configuration says by now."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.config.entry import Entry
from assay.config.entry_name import is_name
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


_RUN = re.compile(r"(run|warmup)-\d{2,6}")
_RETRY = re.compile(r"retry-(\d{1,4})")


@dataclass(frozen=True)
class StartedFolder:
    """The folder of one run, made when it was started."""

    entry: str
    key: str
    """Key of the run, see `Run.key`."""
    started: float
    """When its logs were made, in seconds since 1970."""


def find_started_runs(session: Path) -> list[StartedFolder]:
    """Folders of started runs. Links are not followed: what they lead to is no run of this session."""
    found = []
    for entry in _folders(session):
        if not is_name(entry.name):
            continue
        runs = [(entry, f"{entry.name}/run-01")]
        runs += [(folder, f"{entry.name}/{folder.name}") for folder in _folders(entry) if _RUN.fullmatch(folder.name)]
        for folder, key in runs:
            retries = [(one, _RETRY.fullmatch(one.name)) for one in _folders(folder)]
            tried = [(one, f"{key}-retry-{retry[1]}") for one, retry in retries if retry]
            for path, name in [(folder, key), *tried]:
                logs = path / "logs"
                if logs.is_dir() and not logs.is_symlink():
                    found.append(StartedFolder(entry.name, name, logs.stat().st_mtime))
    return found


def _folders(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield path
