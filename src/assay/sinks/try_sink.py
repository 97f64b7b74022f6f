"""`python -m assay.sinks.try_sink DESCRIPTOR`: started by `try_sink`. The sink's configuration comes on standard
input, because it holds secrets; what is found out goes to the descriptor, since a sink may print."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from inspect import Parameter, signature
from typing import Any

from assay.compat.stand_ins import FINDER
from assay.errors import AssayError
from assay.names import quote, unknown
from assay.sinks.registry import make_sink, sink_class, takes_config
from assay.sinks.sink import BESIDE, COMMON_KEYS, SinkSpec
from assay.sinks.sink_secrets import Secrets

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
        [sys.executable, "-m", "assay.sinks.try_sink", str(said)],
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


MISTAKES = (AssayError, TypeError, ValueError, LookupError, AttributeError, NameError, ImportError, AssertionError)
"""What a constructor raises about its keys or its code. Anything else may be a service that is down for now, which
must not keep a session from running."""

LONGEST = 500
"""Characters of a problem: what a sink raises may hold a whole page."""


def main() -> int:
    spec = SinkSpec(**json.loads(sys.stdin.read()))
    problems = [" ".join(problem.split())[:LONGEST] for problem in _problems(spec)]
    answer = {"problems": problems, "stand_ins": FINDER.take_used()}
    with os.fdopen(int(sys.argv[1]), "w", encoding="utf-8") as out:
        json.dump(answer, out)
    return 0


def _problems(spec: SinkSpec) -> Iterator[str]:
    try:
        found = sink_class(spec)
    except AssayError as error:
        yield f"class: {error}"
        return
    except Exception as error:  # noqa: BLE001 - a module of a user's may raise anything
        yield f"class: {spec.class_path}: its module cannot be imported: {type(error).__name__}: {error}"
        return
    wrong = [*_wrong_keys(found, spec)]
    yield from wrong
    if wrong:
        return
    try:
        make_sink(spec)
    except MISTAKES as error:
        yield f"class: {found.__name__} cannot be made with these keys: {type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - see MISTAKES
        return


def _wrong_keys(found: type[Any], spec: SinkSpec) -> Iterator[str]:
    declared = getattr(found, "keys", ())
    if declared:
        known, needed = [key.name for key in declared], [key.name for key in declared if key.required]
    elif takes_config(found):
        return
    else:
        parameters = [each for each in signature(found).parameters.values() if each.kind is not each.VAR_POSITIONAL]
        if any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
            return
        known = [each.name for each in parameters]
        needed = [each.name for each in parameters if each.default is Parameter.empty]
    names = sorted([*known, *(key.name for key in COMMON_KEYS)])
    of = f"sink {quote(spec.name)}"
    yield from (f"{key}: {unknown('key', key, names, of)}" for key in spec.own if key not in known)
    yield from (f"{key}: sink {spec.name} needs it" for key in needed if spec.own.get(key) in (None, ""))


if __name__ == "__main__":
    sys.exit(main())
