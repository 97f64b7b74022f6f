from __future__ import annotations

import os
import pty
import subprocess

from workplace import Workplace


def on_a_terminal(place: Workplace, *words: str) -> str:
    """What a user sees: the command with a terminal as its output."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        place.argv(*words), cwd=place.folder, env=place.environment, stdout=terminal, stderr=subprocess.DEVNULL
    )
    os.close(terminal)
    seen = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    process.wait()
    os.close(controller)
    return seen.decode()


def test_a_terminal_has_a_live_line_and_a_pipe_has_none(workplace: Workplace) -> None:
    seen = on_a_terminal(workplace, "run", "--runs", "1", "--", "sleep", "1.3")
    assert "[0/1] sleep: 1 s of 7200 s, 0.0 cores" in seen
    piped = workplace.assay("run", "--runs", "1", "--", "sleep", "0.6")
    assert "of 7200 s" not in piped.out
    assert "\x1b" not in piped.out


def test_session_log_has_what_was_printed(workplace: Workplace) -> None:
    workplace.assay("run", "--runs", "1", "--", "true")
    log = (workplace.sessions()[-1].path / "session.log").read_text()
    assert "Started session true__" in log
    assert "✅ Run Succeeded in " in log
    assert "Report: " in log
