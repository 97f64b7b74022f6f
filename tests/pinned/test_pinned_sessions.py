"""Commands that look at three sessions that were written before (`sessions/`): the very same text each time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from golden import check_golden
from transcript import Scenario, play
from workplace import Workplace

HERE = Path(__file__).parent
NIGHT = "nightly-run__2026-03-02__02-00-00"
SCENARIOS = {
    "show": """
        assay show
        assay show latest~1
        assay show --entry parse
        assay show nothing-like-it
        assay show --entry prase
    """,
    "show_json": "assay show --json latest",
    "logs": """
        assay logs merge
        assay logs parse --repeat 2 --session latest~1
        assay logs merge --stderr
        assay logs nobody
    """,
    "compare": """
        assay compare
        assay compare --all --margin 30%
        assay compare latest latest --strict
        assay compare --format markdown
        assay compare --output difference.md
        cat difference.md
        assay compare latest~2 latest~1
        assay compare latest~2 latest~1 --margin 30% --strict
        assay compare latest~2 latest~1 latest
        assay compare missing latest
        assay compare missing latest --allow-missing-base
    """,
    "compare_files": """
        assay compare --output difference.json
        keys difference.json
        assay compare --format json --margin 30% latest~2 latest~1
        assay compare --output difference.html
        page difference.html
    """,
    "history": """
        assay history
        assay history import
        assay history import
        assay history
        assay history list --entry merge
        assay history show parse rows_per_s --last 4
        assay history show parse
        assay history show prase
        assay history export values.csv
        head values.csv
        assay history export values.xls
        top results
    """,
    "report": f"""
        assay report
        page results/{NIGHT}/report.html
        assay report --format markdown --output -
        assay report --against latest~1 latest -o report.md
        assay report nowhere
        assay history import
        assay report --format markdown --output -
        top results/{NIGHT}
        assay publish site
        ls site
        page site/index.html
        page site/sessions.html
        page site/session-1.html
        page site/compare.html
    """,
    "sinks_of_a_session": """
        assay sinks status
        assay sinks flush
        assay sinks flush --all
    """,
    "prune": """
        assay prune
        assay prune --keep 1 --dry-run
        assay prune --keep 1
        assay prune --older-than soon
        assay show latest~1
        top results
    """,
    "rerun_of_what_cannot_be": """
        assay rerun latest/parse
        assay rerun latest/nobody
        assay rerun nothing
    """,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_same_answers_to_the_same_results(tmp_path: Path, name: str) -> None:
    shutil.copytree(HERE / "sessions", tmp_path / "results")
    text = play(Workplace(tmp_path), Scenario(SCENARIOS[name], exact=True))
    check_golden(HERE / "golden" / "sessions" / f"{name}.txt", text)
