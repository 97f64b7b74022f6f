"""Sessions to deliver, and sinks that misbehave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.record import Environment, Fingerprint, Outcome, Record, SessionFolder, SessionInfo, TaskPerf, Usage
from assay.record.results_file import append_record
from assay.sinks import Delivery, Rejected, Sink, SinkStatus, Unavailable

STARTED = "2026-01-01T00:00:00+00:00"
PATIENCE_S = 120.0
"""Delivery has a low priority: on a busy machine it takes a minute for what is done in a second on a quiet one."""


def a_record(number: int = 1, session: str = "nightly", **changes: Any) -> Record:
    values: dict[str, Any] = {
        "name": f"entry-{number}",
        "session": session,
        "run_id": f"{session}/entry-{number}/run-01",
        "outcome": Outcome.PASSED,
        "started_at": STARTED,
        "fingerprint": Fingerprint(f"entry-{number}", "p", "w", "m"),
        "exec_time_s": 1.5 * number,
        "returncode": 0,
        "command": "python bench.py",
        "script_params": {"size": number},
        "script_metrics": {
            "rows": number,
            "speed": {"value": 2.0 * number, "unit": "1/s", "better": "higher", "samples": [1.0, 2.0, 3.0]},
        },
        "tasks": (TaskPerf("read", {"process_time": 1.0}, "i1"),),
        "usage": Usage(samples=2, cpu_s=1.5, peak_rss_mb=10.0),
    }
    return Record(**(values | changes))


def an_environment() -> Environment:
    return Environment(host="bench-1", os="Linux", cpu_model="Some CPU", cores=8, memory_mb=32_000, python="3.11")


class Told:
    """A session as `assay run` tells it, without running anything."""

    def __init__(
        self,
        root: Path,
        specs: list[dict[str, Any]],
        name: str = "nightly",
        linger_s: float = PATIENCE_S,
        viewer_url: str | None = None,
    ) -> None:
        self.folder = SessionFolder(root / name)
        self.folder.path.mkdir(parents=True, exist_ok=True)
        self.info = SessionInfo(name=name, started_at=STARTED, planned=("entry-1", "entry-2"), viewer_url=viewer_url)
        self.folder.write_info(self.info)
        self.folder.write_environment(an_environment())
        self.delivery = Delivery(self.folder.path, specs, linger_s)
        self.delivery.session_started(self.info, an_environment())

    def run(self, record: Record) -> None:
        self.delivery.run_started(record.run_id, record.name)
        append_record(self.folder.results, record)
        self.delivery.run_finished(record)

    def finish(self, changes: str = "entry-1: 3% faster") -> None:
        ended = SessionInfo(name=self.info.name, started_at=STARTED, status="finished", finished_at=STARTED)
        self.folder.write_info(ended)
        self.delivery.session_finished(ended, changes)

    def end(self, wait_s: float = PATIENCE_S) -> list[SinkStatus]:
        self.finish()
        return self.delivery.close(wait_s)

    def flush(self, tries: int = 5, only: Sequence[str] = ()) -> list[SinkStatus]:
        """As `assay sinks flush` delivers what is pending."""
        return Delivery.reopen(self.folder.path, PATIENCE_S, tries, only).close(PATIENCE_S)


def wait_for(what: Any, seconds: float = PATIENCE_S) -> Any:
    """What `what()` returns as soon as it is true."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


class Diary(Sink):
    """Writes down what it is told; `trouble` names a file that says how to misbehave, read at every call."""

    def __init__(self, path: str, trouble: str = "") -> None:
        super().__init__()
        self.path, self.trouble = Path(path), trouble
        self._misbehave("construct")

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        self._tell("initialize", session_name, env_data.get("host"))

    def entry_started(self, name: str, run_id: str) -> None:
        self._tell("entry_started", name, run_id)

    def process_result(self, result: dict[str, Any]) -> Any:
        self._tell("process_result", result["name"], result["sink_data"])
        return {"garbage": object()}

    def finalize(self) -> None:
        assert self.context.closing is not None
        self._tell("finalize", self.context.closing.changes)

    def _tell(self, hook: str, *said: Any) -> None:
        self._misbehave(hook)
        with self.path.open("a") as out:
            out.write(json.dumps([hook, *said]) + "\n")
        self._misbehave(f"after {hook}")

    def _misbehave(self, hook: str) -> None:
        try:
            lines = Path(self.trouble).read_text().splitlines() if self.trouble else []
        except FileNotFoundError:
            return
        for line in lines:
            where, _, how = line.partition(":")
            if where == hook:
                _TROUBLES[how]()


def _kill_me() -> None:
    Path(os.environ["TROUBLE"]).unlink()
    os.kill(os.getpid(), 9)


def _leave_a_sender() -> None:
    """Killed, and what its library started has a group of its own and sends what it holds a second later."""
    late = "import sys, time; time.sleep(1); open(sys.argv[1], 'a').write('[\"sent late\"]\\n')"
    subprocess.Popen([sys.executable, "-c", late, os.environ["DIARY"]], start_new_session=True)
    _kill_me()


def _hold_the_interpreter() -> None:
    import ctypes

    # A library call that keeps the interpreter's lock: no Python code of this process can run meanwhile.
    ctypes.PyDLL(None).sleep(1000)


def _raise(error: BaseException) -> None:
    raise error


_TROUBLES = {
    "raise": lambda: _raise(RuntimeError("no")),
    "key error": lambda: _raise(KeyError("speed")),
    "exit": lambda: sys.exit(3),
    "end": lambda: os._exit(0),
    "garbled": lambda: json.loads("<html>"),
    "hang": lambda: time.sleep(1000),
    "hold": _hold_the_interpreter,
    "kill": _kill_me,
    "leave a sender": _leave_a_sender,
    "reject": lambda: _raise(Rejected("too large")),
    "later": lambda: _raise(Unavailable("come back", retry_after_s=300.0)),
}


class OldDiary:
    """The older form: no base class, told piece by piece."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def _write(self, *said: Any) -> None:
        with self.path.open("a") as out:
            out.write(json.dumps(said) + "\n")

    def start_session(self, session_name: str) -> None:
        self._write("start_session", session_name)

    def start_run(self, run_name: str) -> None:
        self._write("start_run", run_name)

    def log_params(self, params: dict[str, Any]) -> None:
        self._write("log_params", params)

    def log_metrics(self, metrics: dict[str, Any]) -> None:
        self._write("log_metrics", metrics)

    def log_artifact(self, path: str) -> None:
        self._write("log_artifact", Path(path).name)

    def end_run(self, success: bool) -> None:
        self._write("end_run", success)

    def end_session(self, success: bool) -> None:
        self._write("end_session", success)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
