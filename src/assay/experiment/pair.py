from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from assay.config.entries.entry import Entry
from assay.config.plan import Plan
from assay.record import Outcome, Record
from assay.session.run import Run

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
