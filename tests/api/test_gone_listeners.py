"""What listens to a session goes away, is full or breaks: the session does not notice."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from workplace import Workplace

from assay.record import Outcome

THREE = ("run", "--runs", "3", "--", "true")
OUTPUTS = {
    "a reader that leaves": "| head -1 >&2; exit ${PIPESTATUS[0]}",
    "a reader that never reads": "| true; exit ${PIPESTATUS[0]}",
    "a full device": "> /dev/full",
    "a full device for everything": "> /dev/full 2> /dev/full",
    "closed": ">&-",
    "closed, and standard error too": ">&- 2>&-",
    "closed, and standard input too": "<&- >&- 2>&-",
    "everything into a reader that leaves": "2>&1 | true; exit ${PIPESTATUS[0]}",
}


def in_shell(place: Workplace, words: tuple[str, ...], output: str) -> tuple[int, str]:
    line = f"{shlex.join(place.argv(*words))} {output}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=place.folder, env=place.environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_a_session_goes_on_to_its_end_without_its_output(workplace: Workplace, output: str) -> None:
    code, err = in_shell(workplace, THREE, output)
    assert code == 0
    assert "Traceback" not in err
    (folder,) = workplace.sessions()
    assert folder.info().status == "finished"
    assert [record.outcome for record in folder.records()] == [Outcome.PASSED] * 3
    assert folder.report.is_file()
    log = folder.log.read_text()
    assert log.count("✅ Run Succeeded") == 3
    assert "Report: " in log


@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_the_exit_code_is_the_sessions(workplace: Workplace, output: str) -> None:
    code, err = in_shell(workplace, ("run", "--runs", "1", "--", "false"), output)
    assert code == 1
    assert "Traceback" not in err
    assert [record.outcome for record in workplace.sessions()[-1].records()] == [Outcome.FAILED]


def test_what_cannot_be_written_to_standard_output_is_said_once(workplace: Workplace) -> None:
    _, err = in_shell(workplace, THREE, "> /dev/full")
    assert err.count("No space left on device") == 1
    assert "session.log" in err


def test_a_command_whose_whole_point_is_its_output_fails_without_it(workplace: Workplace) -> None:
    workplace.assay(*THREE)
    assert in_shell(workplace, ("show",), "> /dev/full")[0] == 1
    code, err = in_shell(workplace, ("show",), ">&-")
    assert code == 1
    assert "standard output" in err
    assert in_shell(workplace, ("show",), "| true; exit ${PIPESTATUS[0]}")[0] == 0


def test_a_report_that_cannot_be_written_costs_only_itself(workplace: Workplace) -> None:
    config = workplace.write(
        "c.yaml", "entries:\n  - {name: a, command: \"sh -c 'mkdir -p {session_entry_dir}/../report.html/x'\"}\n"
        "  - {name: b, command: 'true'}\n"
    )  # fmt: skip
    answer = workplace.assay("run", "--config", str(config))
    assert answer.code == 0, answer.err
    assert "the report could not be written" in answer.out
    assert "Report: " not in answer.out
    (folder,) = workplace.sessions()
    assert folder.info().status == "finished"
    assert [record.outcome for record in folder.records()] == [Outcome.PASSED] * 2


def test_a_history_that_cannot_be_used_costs_only_itself(workplace: Workplace) -> None:
    (workplace.folder / "results" / "history.sqlite").mkdir(parents=True)
    answer = workplace.assay(*THREE)
    assert answer.code == 0, answer.err
    assert "the history cannot be used" in answer.out
    assert "Report: " in answer.out
    assert len(workplace.sessions()[-1].records()) == 3


def test_a_log_that_cannot_be_written_costs_only_itself(workplace: Workplace) -> None:
    config = workplace.write(
        "c.yaml", "entries:\n  - {name: a, command: \"sh -c 'rm {session_entry_dir}/../session.log; "
        "mkdir {session_entry_dir}/../session.log'\"}\n  - {name: b, command: 'true'}\n"
    )  # fmt: skip
    answer = workplace.assay("run", "--config", str(config))
    assert answer.code == 0, answer.err
    [session] = workplace.sessions()
    session.write_info(replace(session.info(), status="interrupted"))
    resumed = workplace.assay("run", "--resume", "latest")
    assert resumed.code == 0, resumed.err
    assert "session.log could not be written" in resumed.out
    assert "Report: " in resumed.out


def test_a_listener_that_raises_is_named_and_heard_no_more(tmp_path: Path) -> None:
    from assay.api.listeners import Guarded
    from assay.session.events import Event, SessionFinished

    heard: list[str] = []
    said: list[str] = []

    def broken(event: Event) -> None:
        heard.append(type(event).__name__)
        raise RuntimeError("no\nluck")

    listen = Guarded("the lamp", broken, said.append)
    for _ in range(3):
        listen(SessionFinished(None, None, ()))  # type: ignore[arg-type]
    assert heard == ["SessionFinished"]
    assert said == ["the lamp failed and hears no more of this session: RuntimeError: no luck"]


def test_descriptors_of_a_closed_output_are_not_given_to_files_of_the_session(workplace: Workplace) -> None:
    """What a program then writes to its standard output would land in the database."""
    config = workplace.write("c.yaml", "entries:\n  - {name: a, command: 'sh -c \"ls -l /proc/$PPID/fd >&2\"'}\n")
    code, _ = in_shell(workplace, ("run", "--config", str(config)), ">&- 2>&-")
    assert code == 0
    database = workplace.folder / "results" / "history.sqlite"
    assert database.read_bytes().startswith(b"SQLite format 3\0")
    assert os.path.getsize(database) % 512 == 0
