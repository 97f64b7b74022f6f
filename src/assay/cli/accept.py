from __future__ import annotations

import getpass
import subprocess
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from assay.cli.arguments import results_dir, results_dir_argument
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.history import History


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("entry", nargs="?", help="name of the entry")
    parser.add_argument("metric", nargs="?", default="", help="only this metric (default: all of the entry's)")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why the change is intended")
    parser.add_argument(
        "--session", default="latest", help="first session at the new level (default: latest); or a name, a folder"
    )
    parser.add_argument("--by", metavar="NAME", help="who accepts it (default: git's user.name, or the login name)")
    parser.add_argument("--list", action="store_true", help="what has been accepted")
    parser.add_argument("--undo", type=int, metavar="N", help="take back number N of --list")
    results_dir_argument(parser)


def run(args: Namespace) -> int:
    from assay.history import History

    if args.list + (args.undo is not None) + (args.entry is not None) != 1:
        raise UsageError('give one of: an entry with its reason (assay accept ENTRY --reason "…"), --list, --undo N')
    with History.beside(results_dir(args), read_only=args.list) as history:
        if args.list:
            return _list(history)
        return _undo(history, args.undo) if args.entry is None else _accept(history, args)


def _accept(history: History, args: Namespace) -> int:
    from assay.history.find_session import find_session

    folder = find_session(args.session, results_dir(args))
    given = history.accept_level(folder, args.entry, args.metric, args.reason, args.by or user_name())
    what = " ".join(part for part in (args.entry, args.metric) if part)
    print(f"{what}: the level of {folder.info().name} is the baseline from now on")
    print(f"To take it back: assay accept --undo {given[0].id}")
    return 0


def _list(history: History) -> int:
    from assay.report.quantity import printable
    from assay.report.text.screen import text_table

    accepted = history.accepted()
    if not accepted:
        print('nothing has been accepted (assay accept ENTRY --reason "…")')
        return 0
    rows = [("number", "entry", "metric", "from session", "by", "on", "reason")]
    rows += [
        (str(one.id), printable(one.entry), printable(one.metric) or "all", printable(one.session),
         printable(one.who), one.at[:10], printable(one.reason))
        for one in accepted
    ]  # fmt: skip
    print(text_table(rows))
    return 0


def _undo(history: History, number: int) -> int:
    taken = history.take_back(number)
    if taken is None:
        raise UsageError(f"nothing has been accepted under number {number}: assay accept --list shows what has")
    what = " ".join(part for part in (taken.entry, taken.metric) if part)
    print(f"{what}: the level of {taken.session} is no longer accepted; earlier sessions are the baseline again")
    return 0


def user_name() -> str:
    """git's user.name, or the login name."""
    try:
        asked = subprocess.run(["git", "config", "user.name"], capture_output=True, text=True, timeout=10, check=False)
        if asked.returncode == 0 and asked.stdout.strip():
            return asked.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        pass
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
