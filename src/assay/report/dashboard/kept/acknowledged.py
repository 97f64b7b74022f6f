"""What a person has looked at already, kept in the results folder: `acknowledged.json`."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from assay.errors import DataError
from assay.history.instant import microseconds
from assay.record.writing.strict_json import encode, untag
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import SESSION
from assay.untrusted.unreadable import Unreadable
from assay.untrusted.writing import write_atomic
from assay.untrusted.written import Written

FILE_NAME = "acknowledged.json"
LONGEST_NOTE = 500
Matter = Literal["failed", "regressed"]
MATTERS: tuple[Matter, ...] = get_args(Matter)
_WRITING = threading.Lock()


@dataclass(frozen=True)
class Acknowledgement:
    """Somebody has seen to an entry on a class of machines: what began no later than `through` needs nobody any more.
    What begins afterwards does, so an entry that passed in between and fails again is shown again."""

    matter: Matter
    entry: str
    machine: str
    through: str
    """Start of the newest session that was known when it was given."""
    given_at: str
    note: str = ""

    def covers(self, matter: Matter, entry: str, machine: str, since: str) -> bool:
        same = (self.matter, self.entry, self.machine) == (matter, entry, machine)
        return same and microseconds(since) <= microseconds(self.through)

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Acknowledgement:
        item = Written(written)
        matter = item.one_of("matter", MATTERS)
        return cls(
            matter=next(known for known in MATTERS if known == matter),
            entry=item.text("entry"),
            machine=item.text("machine"),
            through=item.moment("through"),
            given_at=item.moment("given_at"),
            note=item.text("note", "")[:LONGEST_NOTE],
        )


def load_acknowledged(results_dir: Path) -> tuple[Acknowledgement, ...]:
    """Raises a `DataError` that names the file where it is damaged."""
    path = results_dir / FILE_NAME
    try:
        written = read_json(path, SESSION, untag, own=True)
        items = written["acknowledged"] if isinstance(written, dict) else None
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise DataError("it has no list `acknowledged`")
        return tuple(Acknowledgement.from_json(item) for item in items)
    except FileNotFoundError:
        return ()
    except (Unreadable, DataError, KeyError) as error:
        why = error.reason if isinstance(error, Unreadable) else error
        raise DataError(f"{path}: cannot be read ({why}); mend it, or delete it to start anew") from None


def acknowledge(results_dir: Path, given: Acknowledgement) -> None:
    """A newer one of the same matter replaces the older."""
    with _WRITING:
        kept = _without(load_acknowledged(results_dir), given.matter, given.entry, given.machine)
        _write(results_dir, [*kept, given])


def take_back(results_dir: Path, matter: Matter, entry: str, machine: str) -> None:
    with _WRITING:
        _write(results_dir, _without(load_acknowledged(results_dir), matter, entry, machine))


def _without(known: Iterable[Acknowledgement], matter: Matter, entry: str, machine: str) -> list[Acknowledgement]:
    return [one for one in known if (one.matter, one.entry, one.machine) != (matter, entry, machine)]


def _write(results_dir: Path, items: list[Acknowledgement]) -> None:
    text = encode({"acknowledged": [asdict(item) for item in items]}, indent=2)
    write_atomic(results_dir / FILE_NAME, text)
