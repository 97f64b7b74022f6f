"""What a program leaves where its results should be is a recorded failure with a reason, whatever it is."""

from __future__ import annotations

import pytest
from workplace import Answer, Workplace

from assay.record import Outcome, Record

START = """
import json, os, pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
params, metrics = out / "params.json", out / "metrics.json"
params.write_text("{}")
metrics.write_text('{"rows": 5}')
"""

SCRIPTS = {
    "fifo": "params.unlink(); os.mkfifo(params)",
    "zeros": 'params.unlink(); params.symlink_to("/dev/zero")',
    "link": 'params.rename(out / "real"); params.symlink_to("real")',
    "directory": "metrics.unlink(); metrics.mkdir()",
    "digits": 'metrics.write_text("{\\"rows\\": " + "7" * 5000 + "}")',
    "nested": 'params.write_text("{\\"a\\": " + "[" * 900 + "]" * 900 + "}")',
    "twice": 'metrics.write_text("{\\"rows\\": 1, \\"rows\\": 2}")',
    "sparse": "os.truncate(metrics, 2**40)",
    "half_value": 'params.write_text(json.dumps({"file": "a\\udc80"}))',
    "half_name": 'metrics.write_text(json.dumps({"rows \\ud800": 5}))',
    "tasks_fifo": 'os.mkfifo(out / "tasks.jsonl")',
    "tasks_nested": '(out / "tasks.jsonl").write_text("[" * 100_000 + "\\n" + json.dumps({"stage": "s", "t": 1}))',
    "log_fifo": 'log = out.parent / "logs" / "stderr.log"; log.unlink(); os.mkfifo(log); sys.exit(3)',
}
REFUSED = {
    "fifo": "params.json is a FIFO, not a regular file",
    "zeros": "params.json is a symbolic link, not a regular file",
    "link": "params.json is a symbolic link, not a regular file",
    "directory": "metrics.json is a directory, not a regular file",
    "digits": "metrics.json has a number of more than 4300 digits in line 1",
    "nested": "params.json is nested deeper than 100 levels in line 1",
    "twice": "metrics.json has the key 'rows' twice in one object",
    "sparse": "metrics.json is larger than 64 MB",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workplace, Answer, dict[str, Record]]:
    place = Workplace(tmp_path_factory.mktemp("hostile"))
    entries = []
    for name, body in SCRIPTS.items():
        place.write(f"scripts/{name}.py", START + body)
        entries.append(f"  - {{name: {name}, script: {name}.py}}\n")
    place.write("session.yaml", "results_dir: results\ndefault_timeout_s: 60\nentries:\n" + "".join(entries))
    answer = place.assay("run", "--config", "session.yaml")
    return place, answer, place.records()


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_results_is_invalid_and_says_why(
    ran: tuple[Workplace, Answer, dict[str, Record]], name: str
) -> None:
    record = ran[2][name]
    assert record.outcome is Outcome.INVALID
    assert record.reasons == (REFUSED[name],)


def test_half_a_surrogate_pair_is_kept_as_what_a_file_can_hold(
    ran: tuple[Workplace, Answer, dict[str, Record]],
) -> None:
    records = ran[2]
    assert records["half_value"].outcome is Outcome.PASSED
    assert records["half_value"].script_params["file"] == "a\ufffd"
    assert records["half_name"].script_metrics == {"rows \ufffd": 5}


def test_tasks_are_extra_and_only_warn(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    fifo, nested = ran[2]["tasks_fifo"], ran[2]["tasks_nested"]
    assert (fifo.outcome, nested.outcome) == (Outcome.PASSED, Outcome.PASSED)
    assert fifo.warnings == ("tasks.jsonl is a FIFO, not a regular file; it was not read",)
    assert nested.warnings == ("tasks.jsonl:1: is nested deeper than 100 levels in line 1; the line was left out",)
    assert [task.stage for task in nested.tasks] == ["s"]


def test_a_log_that_is_no_file_any_more_costs_only_its_last_line(
    ran: tuple[Workplace, Answer, dict[str, Record]],
) -> None:
    record = ran[2]["log_fifo"]
    assert (record.outcome, record.reasons) == (Outcome.FAILED, ("exited with code 3",))


def test_the_session_goes_on_and_is_reported(ran: tuple[Workplace, Answer, dict[str, Record]]) -> None:
    place, answer, records = ran
    assert list(records) == list(SCRIPTS)
    assert "Traceback" not in answer.err
    assert place.sessions()[0].info().status == "finished"
