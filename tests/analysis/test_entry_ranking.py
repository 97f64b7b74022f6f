from __future__ import annotations

from made_commands import made_runs, made_times

from assay.analysis import Verdict
from assay.analysis.evidence import outlying_runs
from assay.analysis.ranking import entry_ranking
from assay.record import Outcome


def test_the_fastest_is_first_and_the_others_are_held_against_it() -> None:
    records = [
        *made_runs("slow", "slow", made_times(0.41, 0.005, seed=1)),
        *made_runs("fast", "fast", made_times(0.23, 0.003, seed=2)),
    ]
    fast, slow = entry_ranking(records)
    assert (fast.name, fast.against) == ("fast", None)
    assert slow.against is not None
    assert slow.against.verdict is Verdict.REGRESSED
    assert slow.against.design == "paired"
    assert slow.against.low is not None
    assert slow.against.high is not None
    assert slow.against.low < 0.41 / 0.23 < slow.against.high


def test_identical_commands_are_hardly_ever_called_different() -> None:
    """The fastest of four is chosen by the data: without a correction for that every third session would say so."""
    wrong = 0
    for seed in range(60):
        records = [
            run
            for at in range(4)
            for run in made_runs(f"c{at}", f"c{at}", made_times(0.2, 0.01, seed=1000 * seed + at))
        ]
        others = entry_ranking(records)[1:]
        wrong += any(one.against and one.against.verdict is Verdict.REGRESSED for one in others)
    assert wrong <= 6


def test_rounds_that_one_of_two_failed_are_left_out() -> None:
    slow = made_runs("slow", "slow", made_times(0.41, 0.005))
    from dataclasses import replace

    slow[3] = replace(slow[3], outcome=Outcome.FAILED)
    _, other = entry_ranking([*slow, *made_runs("fast", "fast", made_times(0.23, 0.003, seed=2))])
    assert other.against is not None
    assert (other.against.base_runs, other.against.head_runs) == (9, 9)


def test_what_was_never_measured_is_last() -> None:
    failed = made_runs("a", "a", [0.1], outcome=Outcome.FAILED)
    assert [(one.name, len(one.runs)) for one in entry_ranking([*failed, *made_runs("b", "b", [0.2])])] == [
        ("b", 1),
        ("a", 0),
    ]


def test_what_all_runs_had_to_bear_explains_none() -> None:
    from dataclasses import replace

    times = made_times(0.4, 0.003)
    times[4] = 0.6
    alone = made_runs("a", "a", times, busy=5)
    [found] = outlying_runs(alone)
    assert (found.run.repeat, found.reasons) == (5, ("the hypervisor took 12% of the CPU time",))
    crowded = [replace(run, usage=replace(run.usage, steal_share=0.12)) for run in alone]
    [found] = outlying_runs(crowded)
    assert found.reasons == ()


def test_a_run_that_is_fast_has_no_excuse() -> None:
    times = made_times(0.4, 0.003)
    times[0] = 0.2
    [found] = outlying_runs(made_runs("a", "a", times, busy=1))
    assert found.reasons == ()
