from __future__ import annotations

from pathlib import Path

from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.session.runs import order_of, order_runs, random_rounds


def plan(count: int = 4, repeat: int = 12, warmup: int = 0) -> Plan:
    entries = tuple(
        Entry(name=f"e{at}", program=("true",), args=(), timeout_s=1, where="", repeat=repeat, warmup=warmup)
        for at in range(count)
    )
    return Plan(entries=entries, results_dir=Path(), artifacts_dir=Path(), commands=True)


def rounds(keys: list[str], count: int) -> list[list[str]]:
    return [keys[at : at + count] for at in range(0, len(keys), count)]


def test_each_round_has_every_entry_once_in_an_order_of_its_own() -> None:
    found = rounds([run.entry.name for run in random_rounds("s")(plan())], 4)
    assert all(sorted(one) == ["e0", "e1", "e2", "e3"] for one in found)
    assert len({tuple(one) for one in found}) > 4


def test_a_session_that_goes_on_keeps_its_order_and_another_has_its_own() -> None:
    keys = [run.key for run in random_rounds("s")(plan())]
    assert keys == [run.key for run in random_rounds("s")(plan())]
    assert keys[:8] == [run.key for run in random_rounds("s")(plan(repeat=2))]
    assert keys != [run.key for run in random_rounds("t")(plan())]


def test_warm_ups_come_first() -> None:
    kinds = [run.kind for run in random_rounds("s")(plan(count=2, repeat=2, warmup=1))]
    assert kinds == ["warmup", "warmup", "run", "run", "run", "run"]


def test_only_commands_are_shuffled() -> None:
    from dataclasses import replace

    assert order_of(replace(plan(), commands=False), "s") is order_runs
    assert order_of(plan(), "s") is not order_runs
