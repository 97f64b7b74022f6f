"""Session folders, histories and outboxes with damaged files, read by every command and page that reads them."""

from __future__ import annotations

import json
import random
from pathlib import Path

from damaged_session import ENTRY, FILES, NAME, OTHER, DamagedSession, filled
from readings import asked, assay, dashboard_pages, session_readings, tried
from starlette.testclient import TestClient

from assay.server.app import dashboard
from campaign.damage import damaged_bytes, damaged_json, damaged_lines, packed, unpacked
from campaign.kind import Case, Trial

HISTORY = "../history.sqlite"
PLAIN = (f"{ENTRY}/usage.csv", f"{ENTRY}/stdouterr.log", "session.log", f"{ENTRY}/logs/stdout.log")
MESSAGE = {"key": "k", "kind": "run_finished", "body": {"name": ENTRY, "run_id": f"{NAME}/{ENTRY}/run-01"}}


class DamagedSessions:
    name, share, seconds = "sessions", 3.0, 30.0

    def __init__(self) -> None:
        self._right: dict[str, bytes] = {}

    def draw(self, rng: random.Random) -> Case:
        file = rng.choice((*FILES, *FILES, *PLAIN, HISTORY, "outbox/messages.jsonl"))
        readings = [*session_readings(Path(), NAME, OTHER, ENTRY), *dashboard_pages(NAME, OTHER, ENTRY)]
        return {"file": file, "data": packed(self._damaged(file, rng)), "readings": rng.sample(readings, 8)}

    def attempt(self, case: Case, folder: Path) -> Trial:
        session = DamagedSession(folder / "results")
        if case["file"].startswith("../"):
            assay("history", "--results-dir", str(session.results), "import")
        path = session.folder / case["file"]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(unpacked(case["data"]))
        return read(session.results, case.get("readings"))

    def _damaged(self, file: str, rng: random.Random) -> bytes:
        if not self._right:
            self._right = _right_files()
        right = self._right[file]
        if file.endswith(".jsonl"):
            first, *rest = right.splitlines()
            document = json.loads(first) if "outbox" in file else filled(json.loads(first))
            return damaged_lines(b"\n".join([json.dumps(document).encode(), *rest]), rng)
        return damaged_json(filled(json.loads(right)), rng) if file.endswith(".json") else damaged_bytes(right, rng)


def read(results: Path, names: list[str] | None) -> Trial:
    """The readings of these names; all of them if none are given."""
    trial = Trial()
    client = TestClient(dashboard(results), base_url="http://localhost", raise_server_exceptions=True)
    for reading, command in session_readings(results, NAME, OTHER, ENTRY).items():
        if names is None or reading in names:
            trial.tried["commands"] += 1
            trial.found += [str(found)] if (found := tried(reading, command)) else []
    for page, address in dashboard_pages(NAME, OTHER, ENTRY).items():
        if names is None or page in names:
            trial.tried["pages"] += 1
            trial.found += [str(found)] if (found := asked(client, page, address)) else []
    return trial


def _right_files() -> dict[str, bytes]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        session = DamagedSession(Path(folder) / "results")
        assay("history", "--results-dir", str(session.results), "import")
        right = {file: (session.folder / file).read_bytes() for file in (*FILES, *PLAIN)}
        right[HISTORY] = (session.folder / HISTORY).read_bytes()
    right["outbox/messages.jsonl"] = json.dumps(MESSAGE).encode() + b"\n"
    return right
