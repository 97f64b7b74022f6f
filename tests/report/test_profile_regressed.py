from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.history import History, session_folders
from assay.record import SessionFolder

SCRIPT = """
import sys, time
from pathlib import Path
sys.path.insert(0, {src!r})
import assay

def the_slow_part(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

with assay.benchmark() as b:
    seconds = float(Path({work!r}).read_text())
    the_slow_part(seconds)
    b.metric("work_s", seconds, unit="s", better="lower")
"""


@pytest.mark.slow
def test_what_regressed_is_profiled_into_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import assay

    work = tmp_path / "work.txt"
    src = str(Path(assay.__file__).parents[1])
    (tmp_path / "spin.py").write_text(SCRIPT.format(src=src, work=str(work)))
    (tmp_path / "bench.yaml").write_text(
        f"results_dir: {tmp_path}/results\n"
        "entries:\n  - name: spin\n    script: spin.py\n    repeat: 6\n    timeout_s: 60\n"
    )
    command = ["run", "--config", str(tmp_path / "bench.yaml"), "--results-dir", str(tmp_path / "results")]
    work.write_text("0.02")
    assert main(command) == 0
    work.write_text("0.4")
    assert main([*command, "--profile-regressed"]) == 0
    newest, _ = session_folders(tmp_path / "results")
    graph = newest.path / "profiles" / "spin.svg"
    assert "the_slow_part" in graph.read_text()
    assert "Flame graph: " in capsys.readouterr().out
    assert '<img class="profile" src="data:image/svg+xml;base64,' in newest.report.read_text()
    with History.beside(tmp_path / "results") as history:
        assert len(history.runs()) == 12
    assert len(SessionFolder(newest.path).records()) == 6
