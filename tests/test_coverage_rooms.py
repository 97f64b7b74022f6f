from __future__ import annotations

import json
from pathlib import Path

import pytest
from tools.coverage_rooms import main


def _measured(folder: Path, stats: int, record: int) -> str:
    def file(reached: int) -> dict[str, dict[str, int]]:
        return {"summary": {"covered_lines": reached, "num_statements": 80, "covered_branches": 10, "num_branches": 20}}

    files = {
        "src/assay/stats/shift.py": file(stats),
        "src/assay/record/joined/part.py": file(record),
        "src/assay/errors.py": file(80),
    }
    path = folder / "coverage.json"
    path.write_text(json.dumps({"files": files}))
    return str(path)


def test_a_room_is_its_folder_with_lines_and_branches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    floors = str(tmp_path / "floors.json")
    assert main([_measured(tmp_path, 40, 70), "--floors", floors, "--write"]) == 0
    assert json.loads(Path(floors).read_text()) == {"assay": 90.0, "record": 80.0, "stats": 50.0, "all": 73.3}
    assert "every room is at its floor or above" in capsys.readouterr().out


def test_below_its_floor_a_room_is_named_and_the_exit_code_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    floors = tmp_path / "floors.json"
    floors.write_text(json.dumps({"stats": 60.0, "record": 80.2, "gone": 10}))
    assert main([_measured(tmp_path, 40, 70), "--floors", str(floors)]) == 1
    said = capsys.readouterr().out
    assert "stats: 50.0% is below its floor of 60.0%" in said
    assert "gone has a floor and is not there" in said
    assert "record: " not in said, "a race may take another branch"


def test_without_floors_everything_is_shown_and_nothing_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([_measured(tmp_path, 0, 0), "--floors", str(tmp_path / "none.json")]) == 0
    assert "none" in capsys.readouterr().out
