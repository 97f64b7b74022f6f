"""Branches that the tests reached by room, held against the floors in tools/coverage_floors.json.

    python -m tools.coverage_rooms FOLDER              a table; exit code 1 if a room is below its floor
    python -m tools.coverage_rooms FOLDER --write      today's values become the floors
    python -m tools.coverage_rooms FOLDER --not stats  where the branches are that no test reached in that room

FOLDER has a file for each process of pytest, with the branches that it reached (tests/support/branch_coverage.py).
A room is a folder of src/assay; a room without a floor has none yet.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.branch_probes import branches, is_measured

PACKAGE = Path(__file__).parents[1] / "src" / "assay"
FLOORS = Path(__file__).with_name("coverage_floors.json")
ALL = "all"
SLACK = 1.0
"""Percentage points below its floor that a room may fall: which branch a race takes differs from run to run."""
SLACK_BRANCHES = 2
"""The same in branches, for rooms where one is more than that."""


@dataclass(frozen=True)
class FileCoverage:
    """One file's branches by their lines, and whether each was reached."""

    path: Path
    lines: tuple[int, ...]
    reached: tuple[bool, ...]

    @property
    def not_reached(self) -> list[int]:
        return [line for line, reached in zip(self.lines, self.reached, strict=True) if not reached]


@dataclass(frozen=True)
class RoomCoverage:
    """Branches of a room that tests reached, and those that there are."""

    reached: int = 0
    there: int = 0

    def __add__(self, other: RoomCoverage) -> RoomCoverage:
        return RoomCoverage(self.reached + other.reached, self.there + other.there)

    @property
    def percent(self) -> float:
        return 100 * self.reached / self.there if self.there else 100.0

    @property
    def slack(self) -> float:
        return max(SLACK, 100 * SLACK_BRANCHES / self.there) if self.there else 0.0


def files(package: Path, measured: Iterable[Mapping[str, Sequence[int]]]) -> list[FileCoverage]:
    """Every file of the package, those that no process imported too."""
    reached: dict[str, list[Sequence[int]]] = defaultdict(list)
    for process in measured:
        for name, one in process.items():
            reached[name].append(one)
    found = []
    for path in sorted(package.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not is_measured(source):
            continue
        lines = branches(source)
        by_process = reached.get(str(path), [])
        if any(len(one) != len(lines) for one in by_process):
            raise SystemExit(f"{path} has changed since it was measured: make test")
        found.append(
            FileCoverage(path, tuple(lines), tuple(any(one[i] for one in by_process) for i in range(len(lines))))
        )
    return found


def rooms(package: Path, measured: Iterable[FileCoverage]) -> dict[str, RoomCoverage]:
    """By room, `all` last."""
    found: dict[str, RoomCoverage] = defaultdict(RoomCoverage)
    for file in measured:
        found[_room(package, file)] += RoomCoverage(sum(file.reached), len(file.lines))
    ordered = dict(sorted(found.items()))
    return {**ordered, ALL: sum(ordered.values(), RoomCoverage())}


def _room(package: Path, file: FileCoverage) -> str:
    inside = file.path.relative_to(package).parts
    return inside[0] if len(inside) > 1 else package.name


def below(found: Mapping[str, RoomCoverage], floors: Mapping[str, float]) -> list[str]:
    """A sentence for each room that is below its floor, or that is gone and still has one."""
    said = [f"{room} has a floor and is not there" for room in floors if room not in found]
    for room, one in found.items():
        if one.percent < floors.get(room, 0.0) - one.slack:
            said.append(f"{room}: {one.percent:.1f}% is below its floor of {floors[room]:.1f}%")
    return said


def table(found: Mapping[str, RoomCoverage], floors: Mapping[str, float]) -> str:
    lines = [f"{'room':14} {'branches':>9} {'reached':>8} {'floor':>8}"]
    for room, one in found.items():
        floor = f"{floors[room]:.1f}%" if room in floors else "none"
        lines.append(f"{room:14} {one.there:>9,} {one.percent:>7.1f}% {floor:>8}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    words = argparse.ArgumentParser(prog="python -m tools.coverage_rooms", description=(__doc__ or "").split("\n")[0])
    words.add_argument("measured", type=Path, metavar="FOLDER")
    words.add_argument("--floors", type=Path, default=FLOORS)
    words.add_argument("--package", type=Path, default=PACKAGE)
    words.add_argument("--write", action="store_true", help="today's values become the floors")
    words.add_argument("--not", dest="unreached", metavar="ROOM", help="where the branches are that no test reached")
    args = words.parse_args(argv)
    processes = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(args.measured.glob("*.json"))]
    measured = files(args.package, processes)
    if args.unreached:
        places = [f"{f.path}:{n}" for f in measured if _room(args.package, f) == args.unreached for n in f.not_reached]
        print("\n".join(places) or f"every branch of {args.unreached} is reached")
        return 0
    found = rooms(args.package, measured)
    if args.write:
        floors = {room: math.floor(10 * one.percent) / 10 for room, one in found.items()}
        args.floors.write_text(json.dumps(floors, indent=2) + "\n", encoding="utf-8")
    floors = json.loads(args.floors.read_text(encoding="utf-8")) if args.floors.is_file() else {}
    print(table(found, floors))
    missed = below(found, floors)
    print("\n".join(missed) or "every room is at its floor or above")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
