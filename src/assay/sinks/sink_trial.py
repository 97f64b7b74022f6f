from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from assay.sinks.secrets import Secrets
from assay.sinks.spec import BESIDE, SinkSpec

TRIAL_S = 20.0
"""Seconds for importing and making a sink; one that takes longer is left to delivery, which has limits of its own."""


@dataclass(frozen=True)
class SinkTrial:
    """What came of making a user's own sink once, before a session, in a process that is then gone."""

    problems: tuple[str, ...] = ()
    """Words without the sink's place in the file, as of `check_spec`."""
    stand_ins: tuple[str, ...] = ()


def try_sink(written: Mapping[str, Any]) -> SinkTrial:
    if not written.get(BESIDE) or written.get("enabled", True) is False:
        return SinkTrial()
    spec = SinkSpec.parse(written)
    secrets = Secrets([spec])
    answer, said = os.pipe()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with os.fdopen(answer, encoding="utf-8") as reading, subprocess.Popen(
        [sys.executable, "-m", "assay.sinks.trial_worker", str(said)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(said,),
        start_new_session=True,
        env=environment,
    ) as process:  # fmt: skip
        os.close(said)
        try:
            process.communicate(json.dumps(asdict(spec)).encode(), timeout=TRIAL_S)
        except subprocess.TimeoutExpired:
            return SinkTrial()
        finally:
            _end(process)
        text = reading.read()
    if not text:
        return SinkTrial((f"class: {spec.class_path}: {_death(process.returncode)} while it was loaded",))
    written = json.loads(text)
    return SinkTrial(tuple(map(secrets.mask, written["problems"])), tuple(written["stand_ins"]))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills the process with whatever it started: what a sink starts would keep the answer's pipe open for ever."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # What is left of it is another user's.
        return


def _death(code: int) -> str:
    return f"its process was ended by signal {-code}" if code < 0 else f"its process ended itself with code {code}"
