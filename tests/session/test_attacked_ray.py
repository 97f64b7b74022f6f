"""A Ray cluster in a namespace whose program turns against it and against what watches: the session goes on."""

from __future__ import annotations

import time

import pytest
from workplace import Workplace

from assay.process.leftovers import SESSION, find_started_for
from assay.record import Outcome

WRITES = """
import json, os, pathlib, signal, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"is_success": True}))
"""
PROGRAMS = {
    "kills_all": "os.kill(-1, signal.SIGKILL)",
    "stops_all": """
for pid in [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]:
    try: os.kill(pid, signal.SIGSTOP)
    except OSError: pass
time.sleep(600)
""",
}


@pytest.mark.slow
def test_a_program_that_kills_or_stops_its_cluster_costs_its_own_run(workplace: Workplace) -> None:
    ray = "{num_cpus: 1, isolation: namespace, object_store_size: 100000000}"
    entries = ""
    for name, code in PROGRAMS.items():
        workplace.write(f"scripts/{name}.py", WRITES + code)
        entries += f"  - {{name: {name}, script: {name}.py, timeout_s: 10, grace_s: 0.5, ray: {ray}}}\n"
    workplace.write("session.yaml", f"results_dir: results\nentries:\n{entries}  - {{name: after, command: 'true'}}\n")
    answer = workplace.assay("run", "--config", "session.yaml")
    assert answer.code == 1, answer.err
    records = workplace.records()
    assert list(records) == [*PROGRAMS, "after"]
    assert records["kills_all"].returncode == 0  # kill(2): not itself, and it has ended as it should
    assert records["stops_all"].outcome is Outcome.TIMEOUT
    assert records["after"].success
    session = workplace.sessions()[-1]
    assert session.info().status == "finished"
    deadline = time.monotonic() + 30
    while (left := find_started_for(SESSION, str(session.path.resolve()))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == set()
