from __future__ import annotations

import re

from on_terminal import on_a_terminal
from workplace import Workplace


def test_a_terminal_has_live_lines_and_a_pipe_has_none(workplace: Workplace) -> None:
    seen = on_a_terminal(workplace, "run", "--runs", "1", "--", "sleep", "1.3")
    assert re.search(r"▶\S* sleep +0/1 +1 s \(limit 2 h\)  0\.\d CPUs", seen)
    assert "0 of 1 runs" in seen
    piped = workplace.assay("run", "--runs", "1", "--", "sleep", "0.6")
    assert "limit" not in piped.out
    assert "\x1b" not in piped.out


def test_session_log_has_the_lines_it_always_had_and_no_escape_code(workplace: Workplace) -> None:
    on_a_terminal(workplace, "run", "--runs", "1", "--", "sleep", "0.6")
    log = (workplace.sessions()[-1].path / "session.log").read_text()
    assert "Started session sleep__" in log
    assert "\tRunning sleep\n" in log
    assert "\t\tRunning command sleep 0.6" in log
    assert "✅ Run Succeeded in " in log
    assert "Report: " in log
    assert "\x1b" not in log
    assert "\r" not in log


CONFIG = "entries:\n  - {name: good, command: 'true'}\n  - {name: bad, command: 'false'}\n"


def test_a_session_on_a_terminal_is_a_line_an_entry(workplace: Workplace) -> None:
    workplace.write("c.yaml", CONFIG)
    seen = on_a_terminal(workplace, "run", "--config", "c.yaml")
    assert re.search(r"✓\S* good +1/1 ", seen)
    assert re.search(r"✗\S* bad +0/1 +exited with code 1", seen)
    assert "Running command" not in seen


def test_quiet_has_the_result_and_verbose_the_log_lines_too(workplace: Workplace) -> None:
    workplace.write("c.yaml", CONFIG)
    quiet = on_a_terminal(workplace, "run", "--config", "c.yaml", "--quiet")
    assert "1 failed" in quiet
    assert "good  " in quiet
    assert "2 runs" not in quiet
    assert "Running" not in quiet
    verbose = on_a_terminal(workplace, "run", "--config", "c.yaml", "--verbose")
    assert "\t\tRunning command true" in verbose
    assert "1 failed" in verbose
    log = (workplace.sessions()[0].path / "session.log").read_text()
    assert "\t\tRunning command true" in log
    both = workplace.assay("run", "--config", "c.yaml", "--quiet", "--verbose")
    assert both.code == 2
    assert "not allowed with" in both.err


def test_a_pipe_has_the_log_lines_of_a_session(workplace: Workplace) -> None:
    workplace.write("c.yaml", CONFIG)
    piped = workplace.assay("run", "--config", "c.yaml").out
    assert "\t\tRunning command true\n\t\t✅ Run Succeeded in " in piped


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(workplace: Workplace) -> None:
    workplace.environment["TERM"] = "dumb"
    seen = on_a_terminal(workplace, "run", "--runs", "1", "--", "sleep", "0.6")
    assert "\x1b" not in seen
    assert "sleep 0.6" in seen


def test_after_an_interrupt_it_is_said_how_to_go_on(workplace: Workplace) -> None:
    entries = (("a", "true"), ("b", "sleep 60"), ("c", "true"))
    workplace.write("c.yaml", "entries:\n" + "".join(f"  - {{name: {n}, command: '{c}'}}\n" for n, c in entries))
    seen = on_a_terminal(workplace, "run", "--config", "c.yaml", interrupt_at="▶ b")
    assert "1 of 3 done; continue: `assay run --resume latest`" in seen
    [first] = workplace.sessions()
    assert first.info().status == "interrupted"
    shown = workplace.assay("show").out
    assert "interrupted; continue: `assay run --resume latest`" in shown
    workplace.assay("run", "--runs", "1", "--", "true")
    assert f"continue: `assay run --resume {first.path.name}`" in workplace.assay("show", first.path.name).out


def test_a_terminal_that_goes_away_changes_nothing(workplace: Workplace) -> None:
    workplace.write("c.yaml", "entries:\n  - {name: a, command: 'sleep 0.6'}\n  - {name: b, command: 'true'}\n")
    on_a_terminal(workplace, "run", "--config", "c.yaml", leave_at="▶ a")
    [folder] = workplace.sessions()
    assert folder.info().status == "finished"
    assert [(record.name, record.success) for record in folder.records()] == [("a", True), ("b", True)]
    assert folder.log.read_text().count("✅ Run Succeeded") == 2


def test_the_older_form_keeps_its_lines_on_a_terminal(workplace: Workplace) -> None:
    workplace.write("scripts/p.py", "import assay\nwith assay.benchmark() as b: b.metric('x', 1)\n")
    workplace.write("matrix.yaml", "results_dir: results\nentries:\n  - {name: small, script: p.py, args: ''}\n")
    workplace.write("datasets.json", "{}")
    seen = on_a_terminal(workplace, "run", "--matrix", "matrix.yaml", "--datasets", "datasets.json")
    seen = re.sub(r"(\x1b\[1A)?\r\x1b\[2K", "", seen)
    assert "\tRunning small\r\n" in seen
    assert "\t\tRunning command " in seen
    assert "\t\t✅ Run Succeeded in " in seen
    assert "✓ small" not in seen.partition("entry")[0]
