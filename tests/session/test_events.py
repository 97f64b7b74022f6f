"""The order in which a session tells what happens, and what is on disk when it does."""

from __future__ import annotations

import os
from pathlib import Path

from assay.config.load_config import load_config
from assay.config.plan import make_plan
from assay.record import Outcome, SessionFolder
from assay.record.secrets import Masker
from assay.session.events import Event, RunFinished, RunSampled, RunStarted, SessionFinished, SessionStarted
from assay.session.session import Session, start_session

CONFIG = """
results_dir: {folder}/results
entries:
  - {{name: good, command: "true", repeat: 2, warmup: 1}}
  - {{name: bad, command: "false", retries: 1}}
  - {{name: after, command: "true", needs: [bad]}}
  - {{name: wrong, script: nowhere.py}}
"""


def word(event: Event) -> str:
    if isinstance(event, SessionStarted):
        return f"session started, {event.runs} runs"
    if isinstance(event, RunStarted):
        return f"started {event.label}"
    if isinstance(event, RunFinished):
        record = event.record
        return f"finished {record.run_id.partition('/')[2]}: {record.outcome}"
    if isinstance(event, SessionFinished):
        return f"session {event.info.status}, {len(event.records)} records"
    return "sampled"


def test_events_come_in_order_and_each_record_is_on_disk_before_it_is_told(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(CONFIG.format(folder=tmp_path))
    plan = make_plan(load_config([file], {}), {})
    session = start_session(plan, None, None, [], Masker({}))
    folder = session.folder
    heard: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, RunFinished):
            assert event.record.run_id in {record.run_id for record in SessionFolder(folder.path).records()}
        if not isinstance(event, RunSampled):
            heard.append(word(event))

    Session(plan, session, listen, os.environ).run()
    assert heard == [
        "session started, 6 runs",
        "started good, warm-up 1 of 1",
        "finished good/warmup-01: passed",
        "started good, run 1 of 2",
        "finished good/run-01: passed",
        "started bad",
        "finished bad/run-01: failed",
        "started bad, retry 1 of 1",
        "finished bad/run-01-retry-1: failed",
        "finished after/run-01: skipped",
        "finished wrong/run-01: not_started",
        "started good, run 2 of 2",
        "finished good/run-02: passed",
        "session finished, 7 records",
    ]
    assert [record.outcome for record in folder.records() if record.superseded] == [Outcome.FAILED]
