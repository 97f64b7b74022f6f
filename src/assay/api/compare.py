from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path

from assay.analysis import Comparison
from assay.analysis.compare_records import compare_sessions, rules_for
from assay.analysis.conditions import with_surroundings
from assay.analysis.ranking import Ranked, rankings
from assay.analysis.read_results import is_results_folder, read_any_results
from assay.api.experiment import ExperimentInputs
from assay.api.results import Records, results
from assay.api.results_dir import sessions_folder
from assay.config.plan import Plan
from assay.errors import UsageError
from assay.experiments.ab import Pair
from assay.experiments.variant import Checkout, MissingInRevision, Variant
from assay.history.find_session import SessionNotFound
from assay.names import list_names


class NothingInCommon(UsageError):
    pass


class Sides:
    """The two variants of everything, as plans; revisions stay checked out while the block lasts."""

    def __init__(
        self, inputs: ExperimentInputs, variants: tuple[Variant, Variant], *, allow_missing_base: bool = False
    ) -> None:
        self._inputs, self._variants = inputs, variants
        self._allow_missing_base = allow_missing_base
        self._closing = ExitStack()
        self.missing_base = ""
        """Why there is nothing to compare with, where that is allowed: then both sides of a pair are B."""
        self.notes: tuple[str, ...] = ()

    def __enter__(self) -> tuple[list[Pair], Plan]:
        try:
            return self._pair()
        except BaseException:
            self._closing.close()
            raise

    def _pair(self) -> tuple[list[Pair], Plan]:
        head = self._plan(1)
        try:
            base = self._plan(0)
            wanted = {entry.name: entry for entry in head.entries if not entry.is_setup}
            pairs = [
                Pair.of(entry, wanted[entry.name])
                for entry in base.entries
                if not entry.is_setup and entry.name in wanted
            ]
            if not pairs:
                raise NothingInCommon("there is nothing to compare: the two sides have no entry in common")
        except (MissingInRevision, NothingInCommon) as error:
            if not self._allow_missing_base:
                if isinstance(error, MissingInRevision):
                    raise UsageError(
                        f"{error}, and each side runs the files of its own revision. If it is new, let the first "
                        "comparison pass with --allow-missing-base"
                    ) from None
                raise
            self.missing_base = str(error)
            return [Pair.of(entry, entry) for entry in head.entries if not entry.is_setup], head
        new = [name for name in wanted if name not in {pair.name for pair in pairs}]
        if new:
            self.notes = (f"only in B, so neither run nor compared: {list_names(new)}",)
        return pairs, base

    def __exit__(self, *gone: object) -> None:
        self._closing.close()

    def _plan(self, side: int) -> Plan:
        variant = self._variants[side]
        revision = variant.revision
        checkout = self._closing.enter_context(Checkout(revision, self._inputs.repository())) if revision else None
        return self._inputs.plan(variant, side, checkout)


@dataclass(frozen=True, repr=False)
class ShownComparison(Comparison):
    """A comparison that shows itself: as text where it is printed, as a page in a notebook."""

    @classmethod
    def showing(cls, comparison: Comparison) -> ShownComparison:
        return cls(**{field.name: getattr(comparison, field.name) for field in fields(comparison)})

    def __str__(self) -> str:
        from assay.report.text.comparison import comparison_text

        return comparison_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from assay.api.results import frame
        from assay.report.session_page import comparison_page

        return frame(comparison_page(self))


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


def compare_many(
    sides: Sequence[Records | str | Path],
    *,
    margin: str | Sequence[str] = (),
    anyway: bool = False,
    results_dir: str | Path | None = None,
    allow_missing_base: bool = False,
) -> Ranked:
    """Compares each side with the first, as `compare` does, and ranks the sides in every metric."""
    if len(sides) < 2:
        raise UsageError("compare takes two sides or more")
    known = [side.results_dir for side in sides if isinstance(side, Records)]
    where = sessions_folder(results_dir or next((folder for folder in known if folder is not None), None))
    records = [side_records(side, where) for side in sides]
    names = [", ".join(side.sessions[:3]) for side in records]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"{twice} was given twice: give different sessions")
    found = [
        compare(
            records[0], other, margin=margin, anyway=anyway, results_dir=where, allow_missing_base=allow_missing_base
        )
        for other in records[1:]
    ]
    return Ranked(tuple(names), tuple(found), tuple(rankings(records, found)))
