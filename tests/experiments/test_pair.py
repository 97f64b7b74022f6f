from __future__ import annotations

from pathlib import Path

from tests.analysis.records import record

from assay.config.entry import Entry
from assay.config.plan import Plan
from assay.experiments.ab import Pair, complete_pairs, pair_order
from assay.record import Outcome


def _plan(*names: str, warmup: int = 0) -> Plan:
    pairs = [Pair.of(entry, entry) for entry in (Entry(name, ("true",), (), 1.0, "here") for name in names)]
    entries = tuple(entry for pair in pairs for entry in pair.repeat(10, warmup))
    return Plan(entries, Path("r"), Path("r/artifacts"))


def _keys(seed: str, counts: dict[str, int], warmup: int = 0) -> list[str]:
    return [run.key for run in pair_order(seed, counts)(_plan(*counts, warmup=warmup))]


def test_the_two_of_a_pair_are_neighbours_and_the_first_is_drawn() -> None:
    keys = _keys("s", {"x": 40})
    for number in range(40):
        two = keys[2 * number : 2 * number + 2]
        assert sorted(two) == [f"x@a/run-{number + 1:02d}", f"x@b/run-{number + 1:02d}"]
    firsts = [key[2] for key in keys[::2]]
    assert 10 <= firsts.count("a") <= 30


def test_more_pairs_continue_the_same_order() -> None:
    assert _keys("s", {"x": 20})[:20] == _keys("s", {"x": 10})
    assert _keys("other", {"x": 20}) != _keys("s", {"x": 20})


def test_settled_entries_are_left_out_and_warm_ups_come_first() -> None:
    keys = _keys("s", {"x": 1, "y": 2}, warmup=1)
    assert keys[:4] == ["x@a/warmup-01", "x@b/warmup-01", "y@a/warmup-01", "y@b/warmup-01"]
    assert [key for key in keys if key.startswith("x") and "run" in key[3:]] == [
        key for key in keys[4:6] if key.startswith("x")
    ]
    assert len(keys) == 4 + 2 + 4


def test_a_pair_of_which_one_failed_is_left_out() -> None:
    records = [
        record("x@a", {"t_s": 1.0}, run=1), record("x@b", {"t_s": 2.0}, run=1),
        record("x@a", {"t_s": 1.0}, run=2), record("x@b", run=2, outcome=Outcome.CRASHED),
        record("x@b", {"t_s": 2.0}, run=3), record("x@a", {"t_s": 1.0}, run=3),
        record("x@a", {"t_s": 9.0}, run=4, warmup=True),
    ]  # fmt: skip
    base, head = complete_pairs(records, "x")
    assert [run.repeat for run in base] == [run.repeat for run in head] == [1, 3]
    assert {run.name for run in [*base, *head]} == {"x"}
    assert base[0].fingerprint == head[0].fingerprint
