from __future__ import annotations

import threading
from pathlib import Path

from assay.config.entry import Entry
from assay.session.runs import Run
from assay.session.workspace import Workspace

TIMES = 300


def test_jobs_of_one_session_make_and_delete_scratch_beside_each_other(tmp_path: Path) -> None:
    """What is empty is removed up to the results folder, which another job may be about to use."""
    session = tmp_path / "results" / "night"
    session.mkdir(parents=True)
    failures: list[OSError] = []

    def work(name: str) -> None:
        run = Run(Entry(name, ("true",), (), 1.0, "here"))
        workspace = Workspace(session, tmp_path / "results" / "artifacts", run, session / "artifacts")
        try:
            for _ in range(TIMES):
                workspace.create()
                (workspace.scratch / "file").touch()
                workspace.delete_scratch()
        except OSError as error:
            failures.append(error)

    jobs = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert failures == []
    assert not (tmp_path / "results" / "artifacts").exists()
