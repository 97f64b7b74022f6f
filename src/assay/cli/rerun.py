from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import replace

from assay.api.attached import Attached
from assay.api.run_inputs import RunInputs
from assay.cli.exit_code import exit_code
from assay.cli.results_dir import results_dir, results_dir_argument
from assay.errors import UsageError
from assay.history.sessions import find_session
from assay.record.secrets import Masker
from assay.session.interrupts import Interrupts
from assay.session.session import Session
from assay.session.start import start_session


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", help="a run's id, or SESSION/ENTRY; `latest/ENTRY` is the newest session's"
    )
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    """The same entry once more, in a session of its own, from the files and options its session was started with."""
    masker = Masker(os.environ)
    word, _, rest = args.run.partition("/")
    name = rest.partition("/")[0]
    folder = find_session(word, results_dir(args))
    info = folder.info()
    if name not in info.planned:
        raise UsageError(f"session {info.name} has no entry {name!r}; it has: {', '.join(info.planned)}")
    plan = RunInputs.from_json(info.plan).plan()
    entries = tuple(entry for entry in plan.entries if entry.name == name)
    if not entries:
        raise UsageError(f"the files of session {info.name} no longer have an entry {name!r}")
    alone = replace(entries[0], repeat=1, warmup=0, needs=())
    plan = replace(plan, entries=(alone,), results_dir=folder.path.absolute().parent)
    reason = f"rerun of {info.name}/{name}"
    new, environment, started = start_session(plan, f"rerun-{name}"[:120], reason, ["assay", *sys.argv[1:]], masker)
    with Attached(plan, new, masker) as attached, Interrupts() as interrupts:
        session = Session(plan, new, environment, started, attached.listen, attached.past, os.environ, interrupts)
        records = session.run()
    return 130 if interrupts.requested else exit_code(records)
