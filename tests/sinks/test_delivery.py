"""The outbox and the delivery process, with a sink that can be told how to misbehave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.sinks.sessions import Told, a_record, lines, wait_for

from assay.record import Outcome
from assay.record.results_file import append_record
from assay.sinks.delivery.outbox import Outbox, select_sink_data
from assay.sinks.delivery.sink_state import SinkState

DIARY = "tests.sinks.sessions:Diary"


@pytest.fixture
def trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "trouble"
    monkeypatch.setenv("TROUBLE", str(path))
    return path


def diary(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {"name": "diary", "class": DIARY, "path": str(tmp_path / "diary"), **more}


EXPECTED = [
    ["initialize", "nightly", "bench-1"],
    ["entry_started", "entry-1", "nightly/entry-1/run-01"],
    ["process_result", "entry-1", {}],
    ["entry_started", "entry-2", "nightly/entry-2/run-01"],
    ["process_result", "entry-2", {}],
    ["finalize", "entry-1: 3% faster"],
]


def test_a_sink_is_told_everything_in_order_by_another_process(tmp_path: Path) -> None:
    told = Told(tmp_path, [diary(tmp_path)])
    told.run(a_record(1))
    told.run(a_record(2))
    [status] = told.end()
    assert lines(tmp_path / "diary") == EXPECTED
    assert (status.state, status.delivered, status.pending) == ("delivered", 6, 0)


def test_an_entry_speaks_to_a_sink_by_its_name(tmp_path: Path) -> None:
    told = Told(tmp_path, [diary(tmp_path)])
    told.run(a_record(1, sink_data={"diary": {"additional_metrics": ["rows"]}, "slack": {"ping_on_failure": ["U1"]}}))
    told.end()
    said = [line[2] for line in lines(tmp_path / "diary") if line[0] == "process_result"]
    assert said == [{"additional_metrics": ["rows"]}]
    listed = [{"name": "diary", "ping_on_failure": ["U2"]}, {"name": "other"}]
    assert select_sink_data(listed, "diary") == {"ping_on_failure": ["U2"]}


def test_a_disabled_sink_needs_no_other_key_and_starts_nothing(tmp_path: Path) -> None:
    told = Told(tmp_path, [{"name": "slack", "enabled": False}])
    told.run(a_record())
    [status] = told.end()
    assert status.state == "disabled"
    assert not (told.folder.path / "outbox").exists()


@pytest.mark.parametrize("hook", ["construct", "initialize", "process_result", "finalize"])
@pytest.mark.parametrize("how", ["raise", "exit", "garbled"])
def test_what_fails_is_pending_with_its_reason_and_delivered_once_by_a_flush(
    tmp_path: Path, trouble: Path, hook: str, how: str
) -> None:
    trouble.write_text(f"{hook}:{how}")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble))])
    told.run(a_record(1))
    told.run(a_record(2))
    [status] = told.end()
    assert status.state == "failing"
    assert status.pending
    assert {"raise": "no", "exit": "SystemExit: 3", "garbled": "JSONDecodeError: Expecting"}[how] in status.reason

    trouble.unlink()
    [status] = told.flush()
    assert status.state == "delivered"
    assert [line for line in lines(tmp_path / "diary") if line[0] != "initialize"] == EXPECTED[1:]


@pytest.mark.parametrize("how", ["hang", "hold"])
def test_a_hook_that_hangs_is_ended_and_holds_up_no_other_sink(tmp_path: Path, trouble: Path, how: str) -> None:
    trouble.write_text(f"process_result:{how}")
    stuck = diary(tmp_path, trouble=str(trouble), delivery_timeout_s=0.3)
    told = Told(tmp_path, [stuck, {"name": "jsonl"}])
    told.run(a_record(1))
    stuck_status, other = told.end()
    assert other.state == "delivered"
    assert stuck_status.state == "failing"
    assert stuck_status.reason == "no answer within 0.3 s"
    trouble.unlink()
    [after] = told.flush(only=["diary"])
    assert after.state == "delivered"


def test_a_sink_that_never_answers_costs_the_session_no_time(tmp_path: Path, trouble: Path) -> None:
    """The session's calls return while the sink hangs: the sink hangs for 1,000 s, the calls end in this test."""
    trouble.write_text("initialize:hang")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble))])
    wait_for(lambda: told.delivery._outbox.state_path("diary").exists())
    alone = time.thread_time()
    for number in range(50):
        append_record(tmp_path / "alone.jsonl", a_record(number))
    alone = time.thread_time() - alone
    with_sink = time.thread_time()
    for number in range(50):
        told.run(a_record(number))
    with_sink = time.thread_time() - with_sink
    told.finish()
    [status] = told.delivery.close(wait_s=0.5)
    assert status.pending == 102
    # Writing two more lines a run is all that the session's process does for its sinks.
    assert with_sink < 20 * alone


def test_a_refused_message_is_set_aside_and_the_next_ones_go_on(tmp_path: Path, trouble: Path) -> None:
    trouble.write_text("process_result:reject")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble))])
    told.run(a_record(1))
    [status] = told.end()
    assert status.refused == (("run_finished nightly/entry-1/run-01", "too large"),)
    assert status.state == "delivered"
    assert lines(tmp_path / "diary")[-1][0] == "finalize"


def test_a_message_a_sink_stumbles_over_does_not_hold_up_the_others(tmp_path: Path, trouble: Path) -> None:
    trouble.write_text("process_result:key error")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble))])
    told.run(a_record(1))
    wait_for(lambda: told.delivery._outbox.state("diary").aside())
    trouble.unlink()
    told.run(a_record(2))
    [status] = told.end()
    assert status.refused == (("run_finished nightly/entry-1/run-01", "KeyError: 'speed'"),)
    assert ["process_result", "entry-2", {}] in lines(tmp_path / "diary")


def test_what_the_service_asks_for_is_waited(tmp_path: Path, trouble: Path) -> None:
    trouble.write_text("process_result:later")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble))])
    told.run(a_record(1))
    state = told.delivery._outbox.state("diary")
    progress = wait_for(lambda: state.progress if state.progress.failures else None)
    assert progress.next_try_at - time.time() > 60
    assert progress.reason == "come back"
    told.delivery.close(0)


def test_killed_between_sending_and_acknowledging_it_sends_again_and_goes_on(tmp_path: Path, trouble: Path) -> None:
    """A sink that does not look is told at least once; the built-in ones that can look are tested in their own
    files."""
    trouble.write_text("after process_result:kill")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble))])
    told.run(a_record(1))
    [status] = told.end()
    hooks = [line[0] for line in lines(tmp_path / "diary")]
    assert hooks.count("process_result") == 2
    assert hooks[-1] == "finalize"
    assert status.state == "delivered"


def test_what_the_library_of_a_killed_courier_still_sends_comes_before_the_next_courier(
    tmp_path: Path, trouble: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both at once could write the same rows twice."""
    monkeypatch.setenv("DIARY", str(tmp_path / "diary"))
    trouble.write_text("after process_result:leave a sender")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble))])
    told.run(a_record(1))
    [status] = told.end()
    hooks = [line[0] for line in lines(tmp_path / "diary")]
    begun, again = hooks[: hooks.index("sent late")], hooks[hooks.index("sent late") + 1 :]
    assert begun == ["initialize", "entry_started", "process_result"]
    assert again == ["initialize", "process_result", "finalize"]
    assert status.state == "delivered"


def test_killing_the_delivery_process_loses_nothing(tmp_path: Path) -> None:
    told = Told(tmp_path, [diary(tmp_path)])
    told.run(a_record(1))
    wait_for(lambda: len(lines(tmp_path / "diary")) == 3)
    worker = told.delivery._worker
    assert worker is not None
    os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    told.run(a_record(2))
    [status] = told.end()
    assert status.pending == 3
    [status] = told.flush()
    assert status.state == "delivered"
    assert [line for line in lines(tmp_path / "diary") if line[0] != "initialize"] == EXPECTED[1:]


KILLED_SESSION = """
import os, sys
from pathlib import Path
from tests.sinks.sessions import Told, a_record
root = Path(sys.argv[1])
told = Told(root, [{"name": "diary", "class": "tests.sinks.sessions:Diary", "path": str(root / "diary")}])
told.run(a_record(1))
os.kill(os.getpid(), 9)
"""


def test_when_the_session_is_killed_delivery_finishes_what_is_there_and_ends(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED_SESSION, str(tmp_path)], check=False, cwd=Path.cwd())
    wait_for(lambda: len(lines(tmp_path / "diary")) == 3)
    # A record the kill came too early for is found in the session's folder on resume.
    append_record(tmp_path / "nightly/results.jsonl", a_record(2))
    told = Told(tmp_path, [diary(tmp_path)])
    told.run(a_record(3))
    [status] = told.end()
    assert status.state == "delivered"
    results = [line[1] for line in lines(tmp_path / "diary") if line[0] == "process_result"]
    assert results == ["entry-1", "entry-2", "entry-3"]


def test_no_process_is_left(tmp_path: Path, trouble: Path) -> None:
    trouble.write_text("process_result:hang")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble)), {"name": "jsonl"}])
    told.run(a_record(1))
    told.finish()
    told.delivery.close(0.5)
    left = [
        pid
        for pid in filter(str.isdigit, os.listdir("/proc"))
        if str(told.folder.path).encode() in _command_line(pid) and b"assay.sinks.delivery.worker" in _command_line(pid)
    ]
    assert left == []


def _command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_hook_that_ends_its_process_has_not_delivered(tmp_path: Path, trouble: Path) -> None:
    trouble.write_text("process_result:end")
    told = Told(tmp_path, [diary(tmp_path, trouble=str(trouble))])
    told.run(a_record(1))
    [status] = told.end()
    assert (status.pending, status.state) == (2, "failing")
    assert status.reason.startswith("its process ended with code 0")


def test_an_error_of_our_own_does_not_reach_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(outbox: Outbox, secrets: object) -> int:
        raise KeyError("a field that every record has")

    monkeypatch.setattr(Outbox, "add_missed", broken)
    told = Told(tmp_path, [diary(tmp_path)])
    told.run(a_record(1))
    statuses = told.end()
    assert statuses[0].state == "delivered"
    assert "results of the interrupted session" in statuses[1].reason


def test_a_full_disk_costs_the_outbox_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(tmp_path, [diary(tmp_path)])
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 1:
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    told.delivery.run_finished(a_record(1))
    monkeypatch.undo()
    append_record(told.folder.results, a_record(1))
    outbox_status = told.end()[-1]
    assert "No space left" in outbox_status.reason
    told.flush()
    assert ["process_result", "entry-1", {}] in lines(tmp_path / "diary")


def test_the_older_form_of_a_sink_is_told_piece_by_piece(tmp_path: Path) -> None:
    spec = {"name": "old", "class": "tests.sinks.sessions.OldDiary", "path": str(tmp_path / "old")}
    told = Told(tmp_path, [spec])
    (told.folder.path / "entry.log").write_text("x")
    told.run(a_record(1, stdouterr_file="entry.log"))
    told.run(a_record(2, outcome=Outcome.FAILED))
    told.end()
    said = lines(tmp_path / "old")
    assert said[:6] == [
        ["start_session", "nightly"],
        ["start_run", "entry-1"],
        ["log_params", {"size": 1}],
        ["log_metrics", {"rows": 1, "speed": 2.0, "exec_time_s": 1.5}],
        ["log_artifact", "entry.log"],
        ["end_run", True],
    ]
    assert said[-2:] == [["end_run", False], ["end_session", False]]


def test_a_sink_finds_plain_numbers_also_in_messages_of_an_older_assay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"name": "old", "class": "tests.sinks.sessions.OldDiary", "path": str(tmp_path / "old")}
    told = Told(tmp_path, [spec])
    with monkeypatch.context() as older:
        older.setattr("assay.record.record.plain", lambda values, details: (values, details))
        record = a_record(1)
        assert isinstance(record.to_json()["script_metrics"]["speed"], dict)
        told.run(record)
    told.end()
    assert ["log_metrics", {"rows": 1, "speed": 2.0, "exec_time_s": 1.5}] in lines(tmp_path / "old")


def test_secrets_reach_neither_disk_nor_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIARY_TOKEN", "tok-1234567890")
    spec = diary(tmp_path, api_key="literal-98765", trouble="tok-1234567890")
    del spec["trouble"]
    spec["token"] = "tok-1234567890"
    told = Told(tmp_path, [spec])
    told.run(a_record(1, command="curl -H tok-1234567890", reasons=("literal-98765",)))
    [status] = told.end()
    # The constructor takes no such keys; what it says of that must not show them either.
    assert "api_key" in status.reason or "token" in status.reason
    for path in (told.folder.path / "outbox").rglob("*"):
        data = path.read_bytes()
        assert b"tok-1234567890" not in data, path
        assert b"literal-98765" not in data, path
    written = (told.folder.path / "outbox/sinks.json").read_text()
    assert "${DIARY_TOKEN}" in written
    assert "${ASSAY_SINK_DIARY_API_KEY}" in written
    monkeypatch.delenv("DIARY_TOKEN")
    [spec_back] = Outbox(told.folder.path).specs()
    assert spec_back.missing == ("ASSAY_SINK_DIARY_API_KEY", "DIARY_TOKEN")
    [status] = told.flush(tries=1)
    assert "set ASSAY_SINK_DIARY_API_KEY, DIARY_TOKEN in the environment" in status.reason


def test_a_secret_that_is_also_a_word_of_ours_loses_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SECRET", "passed")
    monkeypatch.setenv("OTHER_TOKEN", "script_metrics")
    told = Told(tmp_path, [diary(tmp_path), {"name": "csv"}])
    told.run(a_record(1, reasons=("passed on",)))
    for status in told.end():
        assert (status.state, status.refused) == ("delivered", ())
    [message] = [m for m in told.delivery._outbox.log.read(0) if m.kind == "run_finished"]
    assert message.body["reasons"] == ["*** on"]
    assert message.body["outcome"] == "passed"


def test_a_state_that_is_opened_again_in_the_same_process_still_sees_what_others_write(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    first = SinkState(path)
    SinkState(path).close()
    write = "import sys; from assay.sinks.delivery.sink_state import *; s = SinkState(Path(sys.argv[1]));"
    for end in (1, 2):
        subprocess.run([sys.executable, "-c", f"{write} s.mark_delivered({end}); s.close()", str(path)], check=True)
        assert first.progress.position == end
