"""`make bench-truth MOZILLA=DIR`: agreement with people, on a few made-up series in the shape of Mozilla's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench.truth.annotated import agreed, count_half, human, paired, program, read, run, score_any

ROOT = Path(__file__).parents[2]
STEP = 40
ENGINEERS = {"1": [STEP], "2": [STEP + 2], "3": []}


def _write(folder: Path, *, lines: list[str] | None = None, annotations: str | None = None) -> Path:
    """Two series: one with a step at 40 that two engineers of three marked, one without a step."""
    rng = np.random.default_rng(5)
    rows = ["series,index,pushed,value,runs"]
    for name, factor in (("11", 1.5), ("12", 1.0)):
        values = 100 * np.where(np.arange(80) < STEP, 1, factor) * np.exp(rng.normal(0, 0.01, 80))
        rows += [f"{name},{at},2026-01-01T00:00:00,{value:.7g},1" for at, value in enumerate(values)]
    (folder / "series.csv").write_text("\n".join(lines or rows) + "\n")
    marked = {"11": ENGINEERS, "12": {"1": [], "2": [], "3": []}}
    (folder / "annotations.json").write_text(annotations or json.dumps(marked, indent=1))
    return folder


def _asked(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "bench.truth", "--mozilla", str(folder)], cwd=ROOT,
                          capture_output=True, text=True, check=False)  # fmt: skip


def test_a_point_pairs_with_one_other_within_the_margin() -> None:
    assert paired([10, 20], [15, 26]) == 1
    assert paired([10, 12], [11]) == 1
    assert paired([10, 14], [14, 9]) == 2
    assert paired([], [3]) == paired([3], []) == 0
    # The nearest for the first would leave nothing for the second.
    assert paired([10, 14], [6, 11]) == 2


def test_any_is_precision_against_everybody_and_the_mean_recall() -> None:
    # Called 0, 41, 60: two of three were marked by anybody. Recall: 2 of 2, 2 of 2, 1 of 1 and, of an engineer with
    # two points that we have not, 1 of 3.
    precision, recall, f1 = score_any([41, 60], [[40], [42], [], [70, 75]])
    assert precision == pytest.approx(2 / 3)
    assert recall == pytest.approx((1 + 1 + 1 + 1 / 3) / 4)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert score_any([], [[], []]) == (1.0, 1.0, 1.0)


def test_half_takes_places_that_half_of_the_engineers_marked_within_ten_values() -> None:
    assert agreed([[40], [50], []]) == [45]
    assert agreed([[40], [51], []]) == []
    assert agreed([[40], [], [], []]) == []
    assert agreed([[40, 44], [], [], []]) == []  # One engineer twice is one engineer.
    assert agreed([[10, 100], [12, 101], [11], [300]]) == [11, 100]
    assert count_half([46, 70], [[40], [50], []]) == (1, 2, 1)


def test_the_human_is_each_engineer_against_the_others(tmp_path: Path) -> None:
    series = read(_write(tmp_path))
    one = human(series)
    # Series 11: engineers 1 and 2 agree, and are right for half of the others; 3 saw nothing.
    assert one.any[0] == pytest.approx(
        np.mean([score_any([40], [[42], []]), score_any([42], [[40], []]), score_any([], [[40], [42]])], axis=0)
    )
    assert one.half[0].tolist() == pytest.approx([2 / 3, 2 / 3, 1.0])
    assert one.any[1].tolist() == [1.0, 1.0, 1.0]


def test_figures_of_half_count_all_series_together_and_those_of_any_are_means(tmp_path: Path) -> None:
    series = read(_write(tmp_path))
    method = program("made", [([40, 60], 0.2), ([7], 0.4)], series)
    assert method.cpu_s == pytest.approx(0.3)
    precision, recall, f1, *half = method.figures(np.array([0, 1]))
    assert precision == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert recall == 1.0
    assert f1 == pytest.approx((0.8 + 2 / 3) / 2)
    assert half == pytest.approx([1 / 3, 1.0, 0.5])
    assert method.figures(np.array([1, 1]))[3:].tolist() == [0.0, 0.0, 0.0]


def test_the_bench_prints_both_scores_with_intervals_counts_and_cpu_time(tmp_path: Path) -> None:
    said = _asked(_write(tmp_path))
    assert said.returncode == 0, said.stderr
    assert "2 series, 160 values, 3 to 3 engineers each" in said.stdout
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in said.stdout.splitlines() if "|" in line]
    ours = [row for row in rows if row[0] == "assay"]
    assert len(ours) == 2
    assert ours[1][1:4] == ["1.000 [0.000, 1.000]", "1.000 [0.000, 1.000]", "1.000 [0.000, 1.000]"]
    assert ours[1][5:7] == ["1", "1 of 1"]
    assert all(row[-1].endswith(" ms") for row in ours)
    assert [row[-1] for row in rows if row[0] == "one engineer"] == ["–", "–"]


HEAD = "series,index,value"


@pytest.mark.parametrize(
    ("lines", "annotations", "message"),
    [
        (["series,value", "11,5"], None, "series.csv:1: no column index"),
        ([HEAD], None, "series.csv:1: no series"),
        ([HEAD, "11,0,5", "11,1,fast"], None, "series.csv:3: the value is 'fast'; it should be a finite number"),
        ([HEAD, "11,0,5", "11,1"], None, "series.csv:3: the value is None"),
        ([HEAD, "11,0,nan"], None, "series.csv:2: the value is 'nan'"),
        ([HEAD, "11,0,5", "11,2,5"], None, "series.csv:3: the index is '2'; series 11 goes on with 1"),
        ([HEAD, '11,0,"5'], None, "series.csv:2: not CSV"),
        (None, '{"11":\n {"1": [1],}}', "annotations.json:2: not JSON"),
        (None, "[]", "annotations.json:1: should be an object of series"),
        (None, '{\n"13": {"1": [], "2": []}}', "annotations.json:2: series 13 is not in series.csv"),
        (None, '{\n\n"11": {"1": []}}', "annotations.json:3: series 11 should have 2 engineers or more"),
        (None, '{\n"11": {"1": [80], "2": []}}', "annotations.json:2: series 11: engineer 1 has 80; indices are 0 to"),
        (None, '{\n"11": {"1": [-1], "2": []}}', "annotations.json:2: series 11: engineer 1 has -1"),
        (None, '{\n"11": {"1": [true], "2": []}}', "annotations.json:2: series 11: engineer 1 has True"),
        (None, '{\n"11": {"1": 4, "2": []}}', "annotations.json:2: series 11: engineer 1 should have a list"),
        (None, '{\n"11": {"1": [], "2": []}}', "annotations.json: nothing about series 12 of series.csv"),
    ],
)  # fmt: skip
def test_an_error_in_the_data_is_one_message_with_file_and_line(
    tmp_path: Path, lines: list[str] | None, annotations: str | None, message: str
) -> None:
    _write(tmp_path, lines=lines, annotations=annotations)
    with pytest.raises(Exception, match="^" + str(tmp_path)) as raised:
        read(tmp_path)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_without_the_files_is_one_message_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _asked(tmp_path)
    assert (said.returncode, said.stdout) == (2, "")
    [message] = said.stderr.splitlines()
    assert message.startswith(f"{tmp_path}/series.csv can't be read")
    assert run(str(tmp_path / "no"), print) == 2
    assert capsys.readouterr() == ("", f"MOZILLA={tmp_path}/no: no such folder\n")
