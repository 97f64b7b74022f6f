from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.analysis.comparing.compare_sessions import compare_sessions, rules_for
from assay.analysis.comparing.surroundings import with_surroundings
from assay.analysis.results_folder import is_results_folder, read_any_results
from assay.api.results_dir import sessions_folder
from assay.api.shown_comparison import ShownComparison
from assay.api.tables.records import Records
from assay.api.tables.results import results
from assay.errors import UsageError
from assay.history.sessions import SessionNotFound


def compare(
    base: Records | str | Path,
    head: Records | str | Path,
    *,
    margin: str | Sequence[str] = (),
    anyway: bool = False,
    results_dir: str | Path | None = None,
    allow_missing_base: bool = False,
) -> ShownComparison:
    """What changed from `base` to `head`, and whether to believe it, as `assay compare` says.

    Each is records (of `assay.run` or `assay.results`) or a session's word: `latest~1`, a name, a folder, a git
    revision; or the folder that a program run alone, `assay weights bench` or `assay colocate` wrote. `margin`: "5%",
    "METRIC=5%" or "ENTRY:METRIC=5%", or several. `anyway` compares what was run with other parameters, another program
    or on another machine. Noise floors and history are those of `results_dir`, otherwise of the folder that `head` is
    from. What differs between the environments is in `environment`. `allow_missing_base`: a first run; a
    base that is not there, or not comparable, is no error and no failure.
    """
    known = [side.results_dir for side in (head, base) if isinstance(side, Records)]
    where = sessions_folder(results_dir or next((folder for folder in known if folder is not None), None))
    new = side_records(head, where)
    old = _base(base, where, allow_missing_base)
    if isinstance(old, Records) and _is_same(old, new):
        if not allow_missing_base:
            raise UsageError(
                f"{base} and {head} are one and the same session, {_name(new)}: nothing can have changed. Give two "
                "sessions, such as latest~1 and latest"
            )
        old = ()
    rules = rules_for(where, [margin] if isinstance(margin, str) else margin)
    names = _name(old) if old else str(base), _name(new)
    found = compare_sessions(old, new, where, names=names, rules=rules, across=anyway)
    if isinstance(old, Records):
        found = with_surroundings(found, old, new, old.folders, new.folders)
    return ShownComparison.showing(replace(found, missing_base=allow_missing_base))


def _base(side: Records | str | Path, where: Path, may_be_missing: bool) -> Records | tuple[()]:
    try:
        return side_records(side, where)
    except SessionNotFound:
        if not may_be_missing:
            raise
        return ()


def side_records(side: Records | str | Path, where: Path) -> Records:
    if isinstance(side, str | Path) and is_results_folder(Path(side)):
        folder = Path(side)
        return Records(read_any_results(folder), None, [folder])
    records = side if isinstance(side, Records) else results(side, results_dir=where, everything=True)
    if not records:
        what = "the records" if isinstance(side, Records) else str(side)
        raise UsageError(f"there is nothing to compare: {what} has no runs")
    return records


def _is_same(old: Records, new: Records) -> bool:
    """Whether both are the same runs of the same folders; records that a caller picked from one session may differ."""
    runs = [record.run_id for record in old]
    return runs == [record.run_id for record in new] and set(old.folders) == set(new.folders)


def _name(records: Records) -> str:
    first, *others = records.sessions
    return f"{first} and {len(others)} more" if others else first
