"""Two of everything at once: sessions in one folder, jobs of one session, imports, pushes with collections between."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from bucket_server import bucket_server
from s3_server import s3_server
from tests.weights.two_writers import hammer
from workplace import Workplace

from assay.history import History
from assay.record import SessionFolder
from assay.record.results_file import read_records
from campaign.faults.victim import LIMIT_S, STEP
from campaign.kind import Case, Trial

NAMES = ("a", "b", "c", "d")


class TwoWriters:
    name, share, seconds = "writers", 1.5, 300.0

    def draw(self, rng: random.Random) -> Case:
        return {"how": rng.choice(("runs", "jobs", "imports")), "seed": rng.randrange(2**32)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        place, trial, rng = Workplace(folder), Trial(), random.Random(case["seed"])
        place.write("scripts/step.py", STEP)
        entries = "".join(f"  - {{name: {name}, script: step.py, args: '0.1', grace_s: 0.5}}\n" for name in NAMES)
        place.write("s.yaml", f"results_dir: results\nentries:\n{entries}sinks:\n  - {{name: jsonl}}\n")
        {"runs": self._runs, "jobs": self._jobs, "imports": self._imports}[case["how"]](place, trial, rng)
        trial.tried[case["how"]] += 1
        _check(place, trial)
        return trial

    def _runs(self, place: Workplace, trial: Trial, rng: random.Random) -> None:
        """Two sessions, both told to the one history, and a third command that makes it anew meanwhile."""
        run = ("run", "--config", "s.yaml", "--session-name", "night")
        first = _Command(place, *run)
        time.sleep(rng.uniform(0, 0.5))
        commands = [first, _Command(place, *run), _Command(place, "history", "--results-dir", "results", "import")]
        for command in commands:
            command.end(trial, (0, 1, 2))

    def _jobs(self, place: Workplace, trial: Trial, rng: random.Random) -> None:
        """Jobs of one session, one of them killed and asked again."""

        def job(names: str) -> _Command:
            return _Command(place, "run", "--config", "s.yaml", "--join", "night", "--entries-exact", names)

        jobs = [job("a,b"), job("c,d")]
        time.sleep(rng.uniform(0.2, 2.0))
        killed = rng.randrange(2)
        jobs[killed].process.send_signal(rng.choice((signal.SIGKILL, signal.SIGTERM)))
        for number, command in enumerate(jobs):
            command.end(trial, (0, 1, 130, -signal.SIGKILL, -signal.SIGTERM) if number == killed else (0, 1))
        # 2: it had run its entries before it was hit, and an entry belongs to one job.
        job(("a,b", "c,d")[killed]).end(trial, (0, 1, 2))
        finish = _Command(place, "run", "--join", "night", "--finish", "--results-dir", "results")
        twice = _Command(place, "run", "--join", "night", "--finish", "--results-dir", "results")
        finish.end(trial, (0, 1, 2))
        twice.end(trial, (0, 1, 2))

    def _imports(self, place: Workplace, trial: Trial, rng: random.Random) -> None:
        assert place.assay("run", "--config", "s.yaml").code in (0, 1)
        words = ("history", "--results-dir", "results", "import", "--rebuild")
        commands = [_Command(place, *words), _Command(place, *words[:-1]), _Command(place, *words)]
        if rng.random() < 0.5:
            time.sleep(rng.uniform(0.1, 0.8))
            commands[0].process.kill()
            commands[0].process.wait()
            commands = commands[1:]
        for command in commands:
            command.end(trial, (0,))
        _Command(place, *words).end(trial, (0,))


class Pushes:
    """Three processes push branches to one place while two collect: a folder, our bucket, an S3 server."""

    name, share, seconds = "pushes", 1.5, 400.0

    def draw(self, rng: random.Random) -> Case:
        return {"to": rng.choice(("folder", "bucket", "s3")), "writers": 3, "pushes": rng.choice((2, 3, 4))}

    def attempt(self, case: Case, folder: Path) -> Trial:
        servers = {"folder": nullcontext(), "bucket": bucket_server(), "s3": s3_server()}
        with servers[case["to"]] as server:  # type: ignore[attr-defined]
            urls = {"folder": lambda: str(folder / "remote"), "s3": lambda: f"{server}/remote",
                    "bucket": lambda: f"bucket://127.0.0.1:{server.server_address[1]}/remote"}  # fmt: skip
            (folder / "work").mkdir()
            outcome = hammer(urls[case["to"]](), folder / "work", case["writers"], case["pushes"])
        trial = Trial(
            Counter({f"branches to a {case['to']}": len(outcome.acknowledged), "collections": outcome.collections})
        )
        trial.found += [f"lost: {sorted(outcome.lost)}"] if outcome.lost and not outcome.failures else []
        trial.found += list(outcome.failures)
        return trial


class _Command:
    def __init__(self, place: Workplace, *words: str) -> None:
        self.words = words
        self.process = subprocess.Popen(
            place.argv(*words), cwd=place.folder, env=place.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def end(self, trial: Trial, codes: tuple[int, ...]) -> None:
        try:
            said, _ = self.process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            trial.found.append(f"hangs: assay {' '.join(self.words)}")
            return
        if self.process.returncode not in codes or "Traceback" in said:
            trial.found.append(f"assay {' '.join(self.words)} ended with {self.process.returncode}: {said[-2000:]}")


def _check(place: Workplace, trial: Trial) -> None:
    results = place.folder / "results"
    sessions = [SessionFolder(path.parent) for path in results.glob("*/session.json")]
    for session in sessions:
        names = Counter(record.name for record in read_records(session.results))
        if names != Counter(NAMES):
            trial.found.append(f"records of {session.path.name}: {dict(names)}")
        if session.info().status != "finished":
            trial.found.append(f"{session.path.name} is left as {session.info().status}")
        told = Counter((session.path / "sinks/results.jsonl").read_text().splitlines())
        if any(count > 1 for count in told.values()) or len(told) < len(NAMES):
            trial.found.append(f"told: {sorted(told.values())}")
    answer = place.assay("history", "--results-dir", str(results), "import")
    if answer.code:
        trial.found.append(f"history import ended with {answer.code}: {answer.err}")
    with History.beside(results) as history:
        kept = Counter(row.name for row in history.sessions(limit=10))
    if kept != Counter(session.path.name for session in sessions):
        trial.found.append(f"the history has {dict(kept)}")
