"""Run two variants in random pairs until it is clear whether they differ, or the budget is spent.

Pairs next to each other share what the machine is doing, and the random order within a pair keeps a machine that slowly
changes from favouring one side; see `assay.stats.shift` for what that is worth. Looked at after each block only
(`assay.stats.shift`), because looking after every pair would find a difference sooner or later.
"""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from assay.analysis import Comparison, Row, Rules, Verdict, compare
from assay.analysis.comparison import OWN, Failure, failure
from assay.analysis.conditions import with_surroundings
from assay.analysis.judgement import looks, open_entries
from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiments.variant import RunPlan
from assay.record import Outcome, Record
from assay.session.events import Event, Interrupts, Listener, SessionFinished, SessionStarted
from assay.session.runs import Run
from assay.session.workspace import OpenSession

MEASURED = (Outcome.PASSED, Outcome.MISSED)


@dataclass(frozen=True)
class Pair:
    """One benchmark in its two variants."""

    name: str
    a: Entry
    b: Entry

    @classmethod
    def of(cls, a: Entry, b: Entry, name: str | None = None) -> Pair:
        name = name or a.name
        return cls(name, _side(a, f"{name}@a"), _side(b, f"{name}@b"))

    def repeat(self, count: int, warmup: int) -> tuple[Entry, Entry]:
        times = max(2, count)
        return replace(self.a, repeat=times, warmup=warmup), replace(self.b, repeat=times, warmup=warmup)


def _side(entry: Entry, name: str) -> Entry:
    """The entry as one side, without retries, needs and requirements: an experiment asks which side is faster, not
    whether one is fast enough."""
    return replace(entry, name=name, retries=0, needs=(), requirements=())


def pair_order(seed: str, counts: Mapping[str, int]) -> Callable[[Plan], list[Run]]:
    """An order by rounds: the two of a pair stand next to each other, and which comes first is drawn anew each time.

    The draw depends on the seed, entry and round alone: a longer experiment begins with the same order.
    """

    def order(plan: Plan) -> list[Run]:
        sides = list(zip(plan.entries[::2], plan.entries[1::2], strict=True))
        runs = [
            Run(entry, "warmup", number)
            for pair in sides
            for entry in pair
            for number in range(1, entry.warmup + 1)
        ]  # fmt: skip
        for number in range(1, max(counts.values(), default=0) + 1):
            for a, b in sides:
                name = a.name.removesuffix("@a")
                if number > counts[name]:
                    continue
                first = random.Random(f"{seed}/{name}/{number}").random() < 0.5
                runs += [Run(entry, "run", number) for entry in ((a, b) if first else (b, a))]
        return runs

    return order


def complete_pairs(records: Iterable[Record], name: str) -> tuple[list[Record], list[Record]]:
    """Records of both sides, pair by pair, under the entry's own name; a pair of which one failed is left out."""
    sides: dict[str, dict[int, Record]] = {"a": {}, "b": {}}
    for record in records:
        for label, found in sides.items():
            if record.name == f"{name}@{label}" and record.counts:
                found[record.repeat] = record
    both = [n for n in sorted(sides["a"]) if n in sides["b"] and all(s[n].outcome in MEASURED for s in sides.values())]
    return [_as(sides["a"][n], name) for n in both], [_as(sides["b"][n], name, sides["a"][n]) for n in both]


def _as(record: Record, name: str, like: Record | None = None) -> Record:
    """The record under another name, with a fingerprint that can be compared: what differs between the variants is what
    is asked about, and no reason against comparing."""
    fingerprint = replace((like or record).fingerprint, entry=name)
    return replace(record, name=name, fingerprint=fingerprint)


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
    """Each block is a session to the package that runs it; to everyone who listens, the whole is one."""

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
