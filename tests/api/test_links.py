from __future__ import annotations

import sys
from pathlib import Path

from workplace import Workplace

from assay.api.console import Console, Voice
from assay.api.listeners import LinksListener
from assay.record import Environment, SessionFolder, SessionInfo
from assay.record.secrets import Masker
from assay.session.events import RunSampled, SessionFinished, SessionStarted

SINK = """
from assay.sinks import Sink

class Watched(Sink):
    def initialize(self, session_name, env_data):
        self.context.announce("Watched session", f"http://watched.example/{session_name}")
        self.context.announce("its file", "/a/file")

    def process_result(self, result):
        self.context.announce(f"Watched {result['name']}", "http://watched.example/run")
"""
WAITS = """
import pathlib, sys, time
log = pathlib.Path(sys.argv[1]).parent / "session.log"
while "http://watched.example" not in log.read_text():
    time.sleep(0.05)
"""


def test_a_link_is_printed_while_the_run_goes_on(workplace: Workplace) -> None:
    """The entry ends only when it has seen the link: without it, at its time limit."""
    workplace.write("watched.py", SINK)
    workplace.write("waits.py", WAITS)
    workplace.environment["PYTHONPATH"] += f":{workplace.folder}"
    command = f"['{sys.executable}', waits.py, '{{session_entry_dir}}']"
    sinks = "sinks: [{name: watched, class: 'watched:Watched'}]\n"
    workplace.write("session.yaml", f"{sinks}entries: [{{name: e, command: {command}, timeout_s: 60}}]\n")
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 0, answer.out
    during, after = answer.out.split("✅ Run Succeeded")
    link = f"Watched session: http://watched.example/{workplace.sessions()[-1].path.name}"
    assert during.count(link) == 1
    assert link in after.split("Sink watched")[1]
    assert "its file" not in during


def test_what_is_known_before_comes_first_and_each_link_once(tmp_path: Path) -> None:
    news = [[("MLflow session", "http://a")], [], [("MLflow e", "http://b")]]
    with Console(tmp_path / "log", Masker({}), voice=Voice.SILENT) as console:
        listen = LinksListener(console, lambda: news.pop(0) if news else [], known=[("Viewer", "https://v/x")])
        info = SessionInfo(name="s", started_at="2026-01-01T00:00:00+00:00")
        listen(SessionStarted(SessionFolder(tmp_path), info, Environment(), 1))
        for _ in range(3):
            listen(RunSampled("s/e/run-01", 1.0, 1.0, 1.0))
        news.append([("late", "http://c")])
        listen(SessionFinished(SessionFolder(tmp_path), info, ()))
    said = [line.split(maxsplit=1)[1] for line in (tmp_path / "log").read_text().splitlines()]
    assert said == ["Viewer: https://v/x", "MLflow session: http://a", "MLflow e: http://b"]
