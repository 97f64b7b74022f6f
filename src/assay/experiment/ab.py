"""Run two variants in random pairs until it is clear whether they differ, or the budget is spent.

Pairs next to each other share what the machine is doing, and the random order within a pair keeps a machine that slowly
changes from favouring one side; see `assay.stats.shift` for what that is worth. Looked at after each block only
(`assay.stats.sequential`), because looking after every pair would find a difference sooner or later.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from assay.analysis import Comparison, Row, Rules, Verdict, compare
from assay.analysis.comparing.comparison import OWN
from assay.analysis.comparing.surroundings import with_surroundings
from assay.analysis.failure import Failure, failure
from assay.analysis.judging.until_sure import looks, open_entries
from assay.config.entries.entry import Entry
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiment.pair import Pair, complete_pairs, pair_order
from assay.experiment.run_plan import RunPlan
from assay.record import Record
from assay.session.events import Event, Listener, SessionFinished, SessionStarted
from assay.session.folders.open_session import OpenSession
from assay.session.interrupts import Interrupts

MOST_SHOWN = 120
"""Characters of a command."""


@dataclass(frozen=True)
class Looked:
    """What is told after each look."""

    pairs: int
    budget: int
    comparison: Comparison
    open: int
    """Entries that are not settled yet."""


@dataclass(frozen=True)
class Found:
    comparison: Comparison
    pairs: Mapping[str, int]
    """How many each entry took."""
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Budget:
    pairs: int = 60
    block: int = 10
    warmup: int = 1

    def looks(self) -> list[int]:
        if self.pairs < 1:
            raise UsageError("--pairs must be at least 1")
        return looks(self.pairs, self.block)


class AB:
    def __init__(
        self,
        pairs: Sequence[Pair],
        plan: Plan,
        session: OpenSession,
        *,
        run_plan: RunPlan,
        listen: Listener,
        budget: Budget,
        interrupts: Interrupts | None = None,
        rules: Rules | None = None,
        metrics: Sequence[str] = (),
        names: tuple[str, str] = ("A", "B"),
        looked: Callable[[Looked], None] = lambda look: None,
    ) -> None:
        self._pairs, self._plan, self._budget = pairs, plan, budget
        self._session, self._run_plan = session, run_plan
        self._listen = _AsOneSession(listen)
        self._interrupts = interrupts
        self._rules, self._metrics, self._names, self._looked = rules, metrics, names, looked

    def run(self) -> Found:
        planned = self._budget.looks()
        counts = {pair.name: 0 for pair in self._pairs}
        going_on = set(counts)
        for count in planned:
            counts.update(dict.fromkeys(going_on, count))
            records = self._records(counts)
            comparison = self._compare(records, len(planned))
            going_on &= open_entries(comparison)
            self._looked(Looked(count, self._budget.pairs, comparison, len(going_on)))
            if not going_on or self._listen.interrupted:
                break
        self._listen.finish()
        return Found(comparison, counts, tuple(records))

    def _records(self, counts: Mapping[str, int]) -> list[Record]:
        """The same session each time, with more runs planned: what is on disk already is not run again."""
        entries = tuple(entry for pair in self._pairs for entry in pair.repeat(counts[pair.name], self._budget.warmup))
        return self._run_plan(
            replace(self._plan, entries=entries), self._session, listen=self._listen, interrupts=self._interrupts,
            order=pair_order(self._session.info.name, counts),
        )  # fmt: skip

    def _compare(self, records: Sequence[Record], planned: int) -> Comparison:
        sides = [complete_pairs(records, pair.name) for pair in self._pairs]
        base, head = ([record for side in sides for record in side[at]] for at in (0, 1))
        whole = compare(base, head, names=self._names, rules=self._rules, paired=True, looks=planned)
        folder = [self._session.folder.path]
        whole = with_surroundings(whole, base, head, folder, folder)
        rows = [row for row in whole.rows if self._decides(row, whole.rows)]
        if whole.rows and not rows:
            rows = [Row(entry, "", Verdict.NOT_COMPARABLE, _no_such(self._metrics)) for entry in _entries(whole.rows)]
        empty = [
            Row(pair.name, "", Verdict.NOT_COMPARABLE, "no pair was completed")
            for pair, (base, _) in zip(self._pairs, sides, strict=True)
            if not base
        ]
        failures = [found for pair in self._pairs for found in _failures(pair, records)]
        return replace(whole, rows=(*rows, *empty), failures=tuple(failures))

    def _decides(self, row: Row, rows: Iterable[Row]) -> bool:
        """Where a program times nothing itself, the two times decide: the clock's, which is what a user waits, and the
        processor's, which stays true when others keep the machine busy. What is exact is always told."""
        if self._metrics:
            return any(fnmatchcase(row.metric, pattern) for pattern in self._metrics)
        if row.design == "exact":
            return True
        timed = (r for r in rows if r.entry == row.entry and r.metric not in OWN and r.design != "exact")
        said = any(r.better is not None for r in timed)
        return row.metric not in OWN if said else row.metric in OWN[:2]


def _failures(pair: Pair, records: Sequence[Record]) -> list[Failure]:
    """Failures of either side. One that fails now and then still leaves whole pairs to compare, but is not in order."""
    return [
        found
        for side, entry in (("A", pair.a), ("B", pair.b))
        for found in failure(side, _what(pair, entry), [record for record in records if record.name == entry.name])
    ]


def _what(pair: Pair, entry: Entry) -> str:
    """A command as it was given; a benchmark of a configuration by its name."""
    return pair.name if entry.script else shlex.join((*entry.program, *entry.args))[:MOST_SHOWN]


def _entries(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.entry for row in rows))


def _no_such(patterns: Sequence[str]) -> str:
    return f"it has no metric {' or '.join(patterns)} (--metric)"


class _AsOneSession:
    """Each block is a session to the room that runs it; to everyone who listens, the whole is one."""

    def __init__(self, listen: Listener) -> None:
        self._to = listen
        self._started = False
        self._last: SessionFinished | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, SessionFinished):
            self._last = event
            return
        if isinstance(event, SessionStarted):
            if self._started:
                return
            self._started = True
        self._to(event)

    @property
    def interrupted(self) -> bool:
        return self._last is not None and self._last.info.status == "interrupted"

    def finish(self) -> None:
        if self._last is not None:
            self._to(self._last)
