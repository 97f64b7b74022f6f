"""Programs in namespaces of their own that attack what watches them: the run ends with a reason, nothing is left."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from test_supervised import is_running, python, run

from assay.process.leftovers import find_started_for

KILLS_ALL = "import os, signal; os.kill(-1, signal.SIGKILL)"
KILLS_PARENT = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)"
STOPS_PARENT = "import os, signal, time; os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)"
KILLS_FIRST = "import os, signal, time; os.kill(1, signal.SIGKILL); time.sleep(60)"
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork(): os._exit(0)
    os.execve("/bin/sleep", ["sleep", "60"], {"ATTACKED": os.environ["ATTACKED"]})
time.sleep(0.2)
os.kill(os.getppid(), 9)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [KILLS_ALL, KILLS_PARENT, STOPS_PARENT, KILLS_FIRST, DAEMON])
def test_a_program_in_a_namespace_that_attacks_its_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    monkeypatch.setenv("ATTACKED", str(tmp_path))
    before = time.monotonic()
    result = run(tmp_path, python(code), namespace=True, timeout_s=3, grace_s=0.3)
    assert result.ended_because == "timeout" or result.returncode != 0 or result.failure or result.unseen
    assert time.monotonic() - before < 60
    deadline = time.monotonic() + 20
    while (left := find_started_for("ATTACKED", str(tmp_path)) - {os.getpid()}) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not {pid for pid in left if is_running(pid)}
