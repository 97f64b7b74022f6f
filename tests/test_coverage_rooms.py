from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.coverage_rooms import RoomCoverage, below, main

ONE_BRANCH = "if made:\n    pass\nelse:\n    pass\n"


def _measured(folder: Path, stats: int, record: int) -> list[str]:
    """A package of which two processes reached so many of a hundred branches each."""
    package = folder / "assay"
    reached = {"stats/shift.py": stats, "record/joined/part.py": record, "errors.py": 90}
    (folder / "measured").mkdir()
    for name in reached:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(ONE_BRANCH * 50)
    first = {str(package / name): [1] * (count // 2) + [0] * (100 - count // 2) for name, count in reached.items()}
    second = {
        str(package / name): [0] * 10 + [1] * (count - 10) + [0] * (100 - count) for name, count in reached.items()
    }
    (folder / "measured" / "1.json").write_text(json.dumps(first))
    (folder / "measured" / "2.json").write_text(json.dumps(second))
    return [str(folder / "measured"), "--package", str(package)]


def test_a_room_is_its_folder_and_what_any_process_reached_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    floors = str(tmp_path / "floors.json")
    assert main([*_measured(tmp_path, 50, 80), "--floors", floors, "--write"]) == 0
    assert json.loads(Path(floors).read_text()) == {"assay": 90.0, "record": 80.0, "stats": 50.0, "all": 73.3}
    assert "every room is at its floor or above" in capsys.readouterr().out


def test_below_its_floor_a_room_is_named_and_the_exit_code_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    floors = tmp_path / "floors.json"
    floors.write_text(json.dumps({"stats": 60.0, "record": 80.2, "gone": 10}))
    assert main([*_measured(tmp_path, 50, 80), "--floors", str(floors)]) == 1
    said = capsys.readouterr().out
    assert "stats: 50.0% is below its floor of 60.0%" in said
    assert "gone has a floor and is not there" in said
    assert "record: " not in said, "a race may take another branch"


def test_without_floors_everything_is_shown_and_nothing_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*_measured(tmp_path, 20, 20), "--floors", str(tmp_path / "none.json")]) == 0
    assert "none" in capsys.readouterr().out


def test_what_no_test_reached_is_named_by_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*_measured(tmp_path, 99, 100), "--not", "stats"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'assay' / 'stats' / 'shift.py'}:200\n"


def test_in_a_small_room_two_branches_may_be_missed() -> None:
    floors = {"small": 100.0}
    assert below({"small": RoomCoverage(reached=8, there=10)}, floors) == []
    assert below({"small": RoomCoverage(reached=7, there=10)}, floors) == ["small: 70.0% is below its floor of 100.0%"]
