"""What `--prepare` and `--cleanup` do around each run, and what becomes of a run when they fail."""

from __future__ import annotations

from datetime import datetime

from on_terminal import on_a_terminal
from workplace import Workplace

from assay.record import Outcome, Record

SAY = "sh -c 'echo {} >> said'"


def run(place: Workplace, *words: str) -> tuple[int, list[Record], list[str]]:
    answer = place.assay("run", *words)
    said = place.folder / "said"
    lines = said.read_text().split() if said.exists() else []
    return answer.code, list(place.sessions()[-1].records()), lines


def test_they_stand_around_every_run_warm_ups_included(workplace: Workplace) -> None:
    code, records, said = run(
        workplace, "--runs", "2", "--warmup", "1", "--prepare", SAY.format("before"), "--cleanup", SAY.format("after"),
        "--", "sh", "-c", "echo run >> said",
    )  # fmt: skip
    assert code == 0
    assert said == ["before", "run", "after"] * 3
    assert [record.outcome for record in records] == [Outcome.PASSED] * 3


def test_they_are_not_timed(workplace: Workplace) -> None:
    _, records, _ = run(workplace, "--runs", "1", "--prepare", "sleep 0.3", "--cleanup", "sleep 0.3", "--", "true")
    info = workplace.sessions()[-1].info()
    whole = datetime.fromisoformat(info.finished_at or "") - datetime.fromisoformat(info.started_at)
    assert records[0].exec_time_s <= whole.total_seconds() - 0.6
    assert records[0].usage.wall_s <= whole.total_seconds() - 0.6


def test_a_preparation_that_fails_keeps_the_run_from_starting(workplace: Workplace) -> None:
    code, records, said = run(
        workplace, "--runs", "1", "--prepare", "sh -c 'echo no disk >&2; exit 4'", "--cleanup", SAY.format("after"),
        "--", "sh", "-c", "echo run >> said",
    )  # fmt: skip
    assert code == 1
    assert said == []
    assert records[0].outcome is Outcome.NOT_STARTED
    assert records[0].reasons == ("--prepare exited with code 4: no disk",)


def test_a_cleanup_that_fails_fails_the_run(workplace: Workplace) -> None:
    code, records, _ = run(workplace, "--runs", "1", "--cleanup", "false", "--", "true")
    assert code == 1
    assert records[0].outcome is Outcome.FAILED
    assert records[0].reasons == ("--cleanup exited with code 1",)


def test_a_run_that_fails_is_cleaned_up_after(workplace: Workplace) -> None:
    code, records, said = run(workplace, "--runs", "1", "--cleanup", SAY.format("after"), "--", "false")
    assert code == 1
    assert said == ["after"]
    assert records[0].reasons == ("exited with code 1",)


def test_an_interrupted_run_is_cleaned_up_after(workplace: Workplace) -> None:
    seen = on_a_terminal(
        workplace, "run", "--runs", "1", "--cleanup", SAY.format("after"), "--", "sleep", "60", interrupt_at="▶ sleep"
    )
    assert (workplace.folder / "said").read_text().split() == ["after"]
    assert [record.outcome for record in workplace.sessions()[-1].records()] == [Outcome.INTERRUPTED]
    assert "0 of 1 run done; continue: `assay run --resume latest`" in seen


def test_a_preparation_can_be_interrupted(workplace: Workplace) -> None:
    on_a_terminal(workplace, "run", "--runs", "1", "--prepare", "sleep 60", "--", "true", interrupt_at="▶ true")
    assert [record.outcome for record in workplace.sessions()[-1].records()] == [Outcome.INTERRUPTED]


def test_a_program_that_is_not_there_and_a_limit_are_said(workplace: Workplace) -> None:
    _, records, _ = run(workplace, "--runs", "1", "--prepare", "no-such-program-here", "--", "true")
    assert "--prepare could not be run" in records[0].reasons[0]
    _, records, _ = run(workplace, "--runs", "1", "--timeout", "0.3", "--prepare", "sleep 30", "--", "true")
    assert records[0].reasons == ("--prepare ran longer than the limit of 0.3 s",)


def test_runs_with_another_preparation_are_not_compared(workplace: Workplace) -> None:
    _, plain, _ = run(workplace, "--runs", "1", "--", "true")
    _, prepared, _ = run(workplace, "--runs", "1", "--prepare", "true", "--", "true")
    assert plain[0].fingerprint.params != prepared[0].fingerprint.params


def test_no_file_can_ask_for_them(workplace: Workplace) -> None:
    keys = ("prepare", "cleanup", "shell")
    said = ", ".join(f"{key}: 'touch made'" for key in keys)
    config = workplace.write("c.yaml", f"entries:\n  - {{name: a, command: 'true', {said}}}\n")
    answer = workplace.assay("run", "--config", str(config))
    assert answer.code == 2
    assert all(key in answer.err for key in keys)
    assert not (workplace.folder / "made").exists()


def test_they_go_with_commands_only(workplace: Workplace) -> None:
    config = workplace.write("c.yaml", "entries:\n  - {name: a, command: 'true'}\n")
    answer = workplace.assay("run", "--config", str(config), "--prepare", "touch made")
    assert answer.code == 2
    assert "go with commands" in answer.err
    assert not (workplace.folder / "made").exists()
