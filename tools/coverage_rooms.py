"""Branch coverage of the tests by room, held against the floors in tools/coverage_floors.json.

    python -m tools.coverage_rooms COVERAGE.json           a table; exit code 1 if a room is below its floor
    python -m tools.coverage_rooms COVERAGE.json --write   today's values become the floors

COVERAGE.json is what `coverage json` writes. A room is a folder of src/assay; a room without a floor has none yet.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

FLOORS = Path(__file__).with_name("coverage_floors.json")
ALL = "all"
SLACK = 0.3
"""Percentage points below its floor that a room may fall: which branch a race takes differs from run to run."""


@dataclass(frozen=True)
class RoomCoverage:
    """Lines and branches of a room that tests reached, and those that there are."""

    reached: int = 0
    there: int = 0

    def __add__(self, other: RoomCoverage) -> RoomCoverage:
        return RoomCoverage(self.reached + other.reached, self.there + other.there)

    @property
    def percent(self) -> float:
        return 100 * self.reached / self.there if self.there else 100.0


def rooms(measured: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, RoomCoverage]:
    """By room, `all` last; `measured` is the `files` of coverage's JSON."""
    found: dict[str, RoomCoverage] = defaultdict(RoomCoverage)
    for name, file in measured.items():
        inside = PurePosixPath(name.replace("\\", "/")).parts
        below = inside[inside.index("assay") + 1 :]
        counted = file["summary"]
        one = RoomCoverage(
            counted["covered_lines"] + counted.get("covered_branches", 0),
            counted["num_statements"] + counted.get("num_branches", 0),
        )
        found[below[0] if len(below) > 1 else "assay"] += one
    ordered = dict(sorted(found.items()))
    return {**ordered, ALL: sum(ordered.values(), RoomCoverage())}


def below(found: Mapping[str, RoomCoverage], floors: Mapping[str, float]) -> list[str]:
    """A sentence for each room that is below its floor, or that is gone and still has one."""
    said = [f"{room} has a floor and is not there" for room in floors if room not in found]
    for room, one in found.items():
        if one.percent < floors.get(room, 0.0) - SLACK:
            said.append(f"{room}: {one.percent:.1f}% is below its floor of {floors[room]:.1f}%")
    return said


def table(found: Mapping[str, RoomCoverage], floors: Mapping[str, float]) -> str:
    lines = [f"{'room':14} {'lines and branches':>19} {'reached':>8} {'floor':>8}"]
    for room, one in found.items():
        floor = f"{floors[room]:.1f}%" if room in floors else "none"
        lines.append(f"{room:14} {one.there:>19,} {one.percent:>7.1f}% {floor:>8}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    words = argparse.ArgumentParser(prog="python -m tools.coverage_rooms", description=(__doc__ or "").split("\n")[0])
    words.add_argument("measured", type=Path, metavar="COVERAGE.json")
    words.add_argument("--floors", type=Path, default=FLOORS)
    words.add_argument("--write", action="store_true", help="today's values become the floors")
    args = words.parse_args(argv)
    found = rooms(json.loads(args.measured.read_text(encoding="utf-8"))["files"])
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
