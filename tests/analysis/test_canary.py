from __future__ import annotations

from tests.analysis.records import noisy, side
from workplace import Workplace

from assay.analysis import Verdict, compare


def test_a_canary_that_moves_is_the_machine_and_is_said_beside_all_verdicts() -> None:
    def session(name: str, level: float, seed: int) -> list:  # type: ignore[type-arg]
        runs = side(noisy(level, 0.003, seed=seed), session=name, entry="still", canary=True)
        return [*runs, *side(noisy(level, 0.003, seed=seed + 1), session=name, entry="code")]

    base, head = session("base", 10, 0), session("head", 12, 5)
    comparison = compare(base, head, paired=True)
    rows = {(row.entry, row.metric): row for row in comparison.rows}
    assert rows["still", "time_taken_s"].verdict is Verdict.INCONCLUSIVE
    assert rows["code", "time_taken_s"].verdict is Verdict.REGRESSED
    assert comparison.notes[0].startswith("the machine itself changed: still time_taken_s 20")
    assert compare(base, session("head", 10, 7), paired=True).notes == ()


def test_a_canary_whose_values_have_no_ratio_is_named_too() -> None:
    base, head = (
        side(values, "errors", session=name, entry="still", canary=True)
        for name, values in (("base", [0.0] * 10), ("head", [5.0, 6.0] * 5))
    )
    note = compare(base, head).notes[0]
    assert note.startswith("the machine itself changed: still errors (0 → 5.5")


def test_a_canary_is_declared_in_the_configuration(workplace: Workplace) -> None:
    config = workplace.write(
        "c.yaml", "entries:\n  - {name: still, command: 'true', canary: true}\n  - {name: code, command: 'true'}\n"
    )
    assert workplace.assay("run", "--config", str(config)).code == 0
    assert {name: record.canary for name, record in workplace.records().items()} == {"still": True, "code": False}
