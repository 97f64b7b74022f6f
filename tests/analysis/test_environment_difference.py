"""What differs besides, beside every verdict."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from session_factory import MACHINE, START, MadeRun, make_session
from tests.analysis.records import noisy, record

from assay.analysis import BenchmarkAnalyzer, compare, summary_lines, what_changed
from assay.analysis.conditions import (
    Difference,
    Surroundings,
    also_different,
    environment_differences,
    with_surroundings,
)
from assay.cli.main import main
from assay.history import History
from assay.record import Environment, Usage
from assay.record.environment import PythonEnvironment
from assay.report.html import render_report
from assay.report.markdown import session_markdown

HEAD = replace(
    MACHINE, kernel="6.1.2", python="3.12.1", container_image="bench:7", packages={"numpy": "2.4.7", "torch": "2.9.0"}
)


def _words(base: Environment, head: Environment) -> list[str]:
    return [str(difference) for difference in environment_differences(base, head)]


def test_the_same_environment_has_no_difference() -> None:
    assert environment_differences(MACHINE, MACHINE) == ()
    assert also_different(()) == ""


def test_machine_and_system_come_before_packages() -> None:
    assert _words(MACHINE, HEAD) == [
        "container none → bench:7",
        "kernel 6.1.0 → 6.1.2",
        "Python 3.11.9 → 3.12.1",
        "numpy 2.4.6 → 2.4.7",
        "ray 2.60.0 removed",
        "torch 2.9.0 added",
    ]
    other = replace(
        MACHINE, cpu_model="Z80", cores=1, memory_mb=64 * 1024, gpus=("A100",), gpu_driver="550", os="Debian 13"
    )
    assert _words(replace(MACHINE, gpu_driver="535"), other) == [
        "CPU AMD EPYC 7B13 → Z80",
        "cores 8 → 1",
        "memory 32 GB → 64 GB",
        "GPU none → A100",
        "GPU driver 535 → 550",
        "OS Debian GNU/Linux 12 → Debian 13",
    ]


def test_what_a_side_does_not_know_is_no_difference() -> None:
    assert _words(Environment(), MACHINE) == []
    assert _words(MACHINE, replace(MACHINE, memory_mb=MACHINE.memory_mb - 40, git_commit="b" * 40, host="other")) == []


def test_in_a_line_the_rest_is_counted() -> None:
    differences = environment_differences(MACHINE, HEAD)
    assert also_different(differences, most=2) == (
        "Also different: container none → bench:7, kernel 6.1.0 → 6.1.2 and 4 more"
    )
    assert also_different(differences[:1]) == "Also different: container none → bench:7"


def _two(folder: Path, head: Environment = HEAD) -> tuple[Path, Path]:
    runs = [[MadeRun("e", {"time_taken_s": float(v)}, repeat=i + 1, repeats=8)
             for i, v in enumerate(noisy(4, 0.01, 8, seed=seed))] for seed in (0, 1)]  # fmt: skip
    make_session(folder, runs[0], name="monday", started=START)
    make_session(folder, runs[1], name="tuesday", started=START + timedelta(days=1), environment=head)
    return folder / "monday", folder / "tuesday"


def test_every_package_counts_where_both_kept_their_lists(tmp_path: Path) -> None:
    folders = _two(tmp_path, replace(MACHINE, packages={"numpy": "2.4.7", "ray": "2.60.0"}))
    for folder, lines in zip(folders, ("numpy==2.4.6\nray==2.60.0\nPyYAML==6.0\n",
                                       "numpy==2.4.7\nray==2.60.0\npyyaml==6.1\nrich==14\n"), strict=True):  # fmt: skip
        (folder / "artifacts").mkdir()
        (folder / "artifacts" / "pip-freeze.txt").write_text(lines)
    base, head = (Surroundings.of(folder) for folder in folders)
    assert base is not None
    assert head is not None
    assert [str(one) for one in base.against(head)] == ["numpy 2.4.6 → 2.4.7", "pyyaml 6.0 → 6.1", "rich 14 added"]
    (folders[0] / "artifacts" / "pip-freeze.txt").unlink()
    base = Surroundings.of(folders[0])
    assert base is not None
    assert [str(one) for one in base.against(head)] == ["numpy 2.4.6 → 2.4.7"]


def test_an_interpreter_of_an_entrys_own_is_held_against_that_of_the_other_side() -> None:
    old, new = (PythonEnvironment("/py", "3.11.9", {"ray": ray}) for ray in ("2.57.0", "2.60.0"))
    base = [record(environment=old), record("other")]
    head = [record(environment=new, session="head"), record("other", session="head")]
    comparison = with_surroundings(compare(base, head), base, head, [], [])
    assert [str(difference) for difference in comparison.environment] == ["ray 2.57.0 → 2.60.0"]


def test_busy_against_quiet_is_a_difference() -> None:
    busy = Usage(wall_s=1.0, neighbour_cpu_s=1.2, samples=1)
    quiet, loud = [record(metrics={"x_s": 1.0})], [record(metrics={"x_s": 1.0}, usage=busy, session="head")]
    told = with_surroundings(compare(quiet, loud), quiet, loud, [], []).environment
    assert told == (Difference("load", "CPUs kept busy by other processes", "0.0", "1.2"),)
    assert with_surroundings(compare(loud, loud), loud, loud, [], []).environment == ()


@pytest.mark.parametrize("form", ["text", "markdown", "json", "html"])
def test_compare_says_it_in_every_form(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _two(tmp_path)
    monkeypatch.setenv("ASSAY_RESULTS_DIR", str(tmp_path))
    main(["compare", "monday", "tuesday", "--format", form, "--anyway"])
    said = capsys.readouterr().out
    if form == "json":
        assert {"kind": "system", "what": "kernel", "base": "6.1.0", "head": "6.1.2"} in json.loads(said)["environment"]
    else:
        assert "Also different: container none → bench:7, kernel 6.1.0 → 6.1.2" in said
    shutil.copytree(tmp_path / "monday", tmp_path / "again")
    main(["compare", "monday", str(tmp_path / "again"), "--format", form])
    same = capsys.readouterr().out
    assert '"environment": []' in same if form == "json" else "Also different" not in same


def test_a_copied_folder_has_the_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monday, tuesday = _two(tmp_path)
    monday.rename(tmp_path / "kept")
    main(["compare", str(tmp_path / "kept"), str(tuesday), "--anyway"])
    assert "kernel 6.1.0 → 6.1.2" in capsys.readouterr().out
    told = BenchmarkAnalyzer(tmp_path).compare_results(str(tmp_path / "kept"), "tuesday")["environment"]
    assert {"kind": "package", "what": "torch", "base": None, "head": "2.9.0"} in told


def test_after_a_run_and_in_its_report_as_long_as_the_base_is_there(tmp_path: Path) -> None:
    monday, tuesday = _two(tmp_path)
    with History.beside(tmp_path) as history:
        from assay.record import SessionFolder

        for folder in (monday, tuesday):
            history.add_session(SessionFolder(folder))
        head = SessionFolder(tuesday)
        changed = what_changed(head.records(), history)
        assert changed is not None
        assert summary_lines(changed)[-1] == (
            "Also different: container none → bench:7, kernel 6.1.0 → 6.1.2, Python 3.11.9 → 3.12.1 and 3 more"
        )
        assert "Also different: container none → bench:7" in session_markdown(head, history=history)
        assert "Also different: container none → bench:7" in render_report(head, history=history)
        monday.rename(tmp_path.parent / f"{tmp_path.name}-gone")
        without = what_changed(head.records(), history)
        assert without is not None
        assert without.environment == ()
        (tmp_path / "monday").mkdir()
        (tmp_path / "monday" / "env.json").write_text("[")
        assert what_changed(head.records(), history) == without
