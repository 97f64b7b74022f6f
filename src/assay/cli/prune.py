from __future__ import annotations

import re
import shutil
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from assay.api.results_dir import results_folder
from assay.errors import UsageError
from assay.history.find_session import session_folders
from assay.record import SessionFolder
from assay.session.workspace import is_running

_AGE = re.compile(r"(\d+)\s*([hdw])")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)b?", re.IGNORECASE)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", metavar="N", type=int, help="keep the newest N sessions")
    parser.add_argument("--older-than", metavar="AGE", help="only what is older, e.g. 30d, 12h, 8w")
    parser.add_argument("--max-size", metavar="SIZE", help="delete the oldest until the rest takes no more, e.g. 20GB")
    parser.add_argument("--dry-run", action="store_true", help="say what would be deleted")
    parser.add_argument(
        "--results-dir",
        metavar="DIR",
        type=Path,
        help="where to delete (default: $ASSAY_RESULTS_DIR, otherwise ./results, wherever the last run wrote)",
    )


@dataclass(frozen=True)
class Candidate:
    folder: SessionFolder
    started_at: datetime
    size: int


def run(args: Namespace) -> int:
    """Deletes session folders, never the history: what they measured stays known. A running session is kept."""
    if args.keep is None and args.older_than is None and args.max_size is None:
        raise UsageError("say what to delete: --keep N, --older-than AGE or --max-size SIZE")
    folder = results_folder(args.results_dir)
    sessions = [_candidate(item, folder) for item in session_folders(folder) if not is_running(item)]
    for candidate in _choose(sessions, args):
        print(
            f"{'would delete' if args.dry_run else 'deleted'} {candidate.folder.path} ({candidate.size / 2**20:.1f} MB)"
        )
        if not args.dry_run:
            shutil.rmtree(folder / "artifacts" / candidate.folder.path.name, ignore_errors=True)
            shutil.rmtree(candidate.folder.path)
    return 0


def _choose(sessions: list[Candidate], args: Namespace) -> list[Candidate]:
    """`sessions` are newest first. Every condition given must hold, except that the size limit decides by itself."""
    chosen = []
    limit = datetime.now(UTC) - _age(args.older_than) if args.older_than else None
    if args.keep is not None or limit is not None:
        chosen = [
            item
            for at, item in enumerate(sessions)
            if (args.keep is None or at >= args.keep) and (limit is None or item.started_at < limit)
        ]
    if args.max_size is not None:
        left = [item for item in sessions if item not in chosen]
        while left and sum(item.size for item in left) > _size(args.max_size):
            chosen.append(left.pop())
    return chosen


def _candidate(session: SessionFolder, results: Path) -> Candidate:
    places = [session.path, results / "artifacts" / session.path.name]
    size = sum(file.lstat().st_size for place in places if place.is_dir() for file in place.rglob("*"))
    return Candidate(session, datetime.fromisoformat(session.info().started_at), size)


def _age(text: str) -> timedelta:
    match = _AGE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"--older-than {text!r}: write for example 30d, 12h or 8w")
    return timedelta(hours=int(match[1]) * {"h": 1, "d": 24, "w": 168}[match[2]])


def _size(text: str) -> float:
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"--max-size {text!r}: write for example 500MB or 20GB")
    power = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}[match[2].lower()]
    return float(match[1]) * float(1024**power)
