"""A session to be attacked: short entries, a weight suite, three sinks, and a dashboard that is read meanwhile."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import yaml
from tests.sinks.moody_server import Answer, MoodyServer, Request
from workplace import Workplace

from assay.record import SessionFolder
from assay.record.results_file import read_records
from campaign.kind import Trial

STEP = """
import json, os, pathlib, sys, time
out = pathlib.Path(os.environ["ASSAY_BENCHMARK_RESULTS_PATH"])
time.sleep(float(sys.argv[1]))
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"is_success": True, "rows": 7}))
(out / "tasks.jsonl").write_text(json.dumps({"stage": "s", "metrics": {"process_time": 0.1}}) + "\\n")
"""
PROFILE = {
    "name": "torture", "description": "one suite of tiny models", "budget_s": 5, "timeout": 60, "suites": ["accuracy"],
    "iterations": 1, "models": ["tiny"], "dtypes": ["float32"], "versions": 2,
}  # fmt: skip
LIMIT_S = 180.0
"""Longer than any command here takes, on a machine that does other things as well."""


class Victim:
    def __init__(self, folder: Path, results: Path, entries: int = 5, suite: bool = True, seconds: float = 0.2) -> None:
        self.place = Workplace(folder)
        self.results = results
        self.trial = Trial()
        self.collector = MoodyServer(lambda request: Answer())
        self.place.write("scripts/step.py", STEP)
        self.place.write("profile.yaml", yaml.safe_dump(PROFILE))
        listed = [{"name": f"e{n}", "script": "step.py", "args": str(seconds), "grace_s": 0.5} for n in range(entries)]
        if suite:
            words = f"--profile {folder / 'profile.yaml'}"
            listed.insert(
                entries // 2, {"name": "suite", "script": "weights/accuracy.py", "args": words, "timeout_s": 90}
            )
        sinks = [{"name": "jsonl"}, {"name": "csv"}, {"name": "otlp", "endpoint": self.collector.url}]
        self.entries = [entry["name"] for entry in listed]
        config = {"results_dir": str(results), "entries": listed, "sinks": sinks}
        self.place.write("session.yaml", yaml.safe_dump(config))
        self._passed: dict[str, str] = {}
        """Run → when it began, of runs that were once kept as passed."""

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        errors = (self.place.folder / "errors").open("ab")
        return subprocess.Popen(
            self.place.argv(*words), cwd=self.place.folder, env=self.place.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors,
        )  # fmt: skip

    def go_on(self) -> subprocess.Popen[bytes]:
        """Resumed, if there is a session to resume."""
        if self.session is None:
            return self.start("run", "--config", "session.yaml")
        return self.start("run", "--resume", self.session.path.name, "--results-dir", str(self.results))

    @property
    def session(self) -> SessionFolder | None:
        """The newest that has begun."""
        found = sorted(self.results.glob("*/session.json"), key=lambda path: path.parent.name)
        return SessionFolder(found[-1].parent) if found else None

    def remember(self) -> None:
        """What is kept now must still be there in the end."""
        if self.session is not None:
            self._passed |= {record.run_id: record.started_at for record in self.session.records() if record.success}

    def finish(self) -> None:
        """Undisturbed from here on."""
        for words in (None, ("sinks", "flush")):
            if words is None:
                process = self.go_on()
            else:
                assert self.session is not None
                process = self.start(*words, self.session.path.name, "--results-dir", str(self.results))
            try:
                code = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                self.trial.found.append(f"hangs: {words or 'run --resume'} after {LIMIT_S:.0f} s")
                process.kill()
                process.wait()
                return
            if code not in (0, 1):
                errors = (self.place.folder / "errors").read_text()[-1500:]
                self.trial.found.append(f"{words or 'run --resume'} ended with {code}: {errors}")

    def check(self) -> None:
        """The promises: every record once, nothing that was kept is lost, the status right, everybody told."""
        found, session = self.trial.found, self.session
        if session is None:
            found.append("there is no session")
            return
        names = Counter(record.name for record in read_records(session.results))
        if names != Counter(self.entries):
            found.append(f"records are {dict(names)}")
        began = {record.run_id: record.started_at for record in session.records()}
        lost = [run for run, when in self._passed.items() if began.get(run) != when]
        if lost:
            found.append(f"kept as passed and then lost or run again: {lost}")
        if session.info().status != "finished":
            found.append(f"the session is left as {session.info().status}")
        self._check_sinks(session, began)
        for log in (self.place.folder / "errors", session.log, session.path / "outbox/delivery.log"):
            text = log.read_text(errors="replace") if log.exists() else ""
            if "Traceback (most recent call last)" in text:
                found.append(f"a traceback in {log.name}: {text[-2500:]}")

    def _check_sinks(self, session: SessionFolder, began: dict[str, str]) -> None:
        lines = [json.loads(line) for line in (session.path / "sinks/results.jsonl").read_text().splitlines()]
        told = Counter((line["run_id"], line["started_at"]) for line in lines)
        twice = [run for run, count in told.items() if count > 1]
        if twice:
            self.trial.found.append(f"jsonl was told twice of {twice}")
        missing = [run for run in began.items() if run not in told]
        if missing:
            self.trial.found.append(f"jsonl was not told of {missing}")
        rows = Counter((session.path / "sinks/metrics.csv").read_text().splitlines())
        if any(count > 1 for count in rows.values()):
            self.trial.found.append(f"csv was told twice of {[row for row, count in rows.items() if count > 1]}")
        sent = b"".join(_plain(request) for request in list(self.collector.seen))
        unsent = [run for run in began if run.encode() not in sent]
        if unsent:
            self.trial.found.append(f"otlp was not told of {unsent}")

    def close(self) -> None:
        self.collector.stop()


def _plain(request: Request) -> bytes:
    return gzip.decompress(request.body) if request.headers.get("content-encoding") == "gzip" else request.body


class Dashboard:
    """`assay serve`, and a reader that asks for its pages without a pause."""

    def __init__(self, victim: Victim) -> None:
        self._victim = victim
        self._over = threading.Event()
        self.answers: Counter[str] = Counter()
        self.process: subprocess.Popen[str] | None = None
        self._address = ""
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Dashboard:
        self._victim.results.mkdir(parents=True, exist_ok=True)
        self.begin()
        self._reader.start()
        return self

    def begin(self) -> None:
        place = self._victim.place
        words = [
            sys.executable,
            "-u",
            *place.argv("serve", "--port", "0", "--results-dir", str(self._victim.results))[1:],
        ]
        self.process = subprocess.Popen(
            words, cwd=place.folder, env=place.environment, stdout=subprocess.PIPE, text=True,
            stderr=(place.folder / "errors").open("ab"), stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "http://" in line:
                self._address = "http://" + line.partition("http://")[2].split()[0].rstrip("/")
                return

    def _read(self) -> None:
        while not self._over.is_set():
            session = self._victim.session
            name = session.path.name if session else "none"
            for page in ("/", f"/session?name={name}", f"/live?name={name}", "/runs", "/entries"):
                try:
                    with urllib.request.urlopen(self._address + page, timeout=60) as answer:
                        answer.read()
                    self.answers["pages"] += 1
                except urllib.error.HTTPError as error:
                    self.answers["pages"] += 1
                    if error.code >= 500:
                        self._victim.trial.found.append(f"the dashboard answered {page} with {error.code}")
                except OSError:
                    self.answers["pages of a dashboard that was just killed"] += 1
                self._over.wait(0.1)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._reader.join(60)
        if self._reader.is_alive():
            self._victim.trial.found.append("the dashboard does not answer")
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def wait_until(true: object, seconds: float = 30.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False
