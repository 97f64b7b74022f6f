"""Where new users stumbled, each as they met it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workplace import Answer, Workplace

QUICK = "entries:\n  - name: quick\n    command: [echo, hello]\n"


def test_the_template_repeats_both_entries_and_measures_what_it_names(workplace: Workplace) -> None:
    assert workplace.assay("init").code == 0
    config = workplace.folder / "assay.yaml"
    config.write_text(config.read_text().replace("repeat: 6", "repeat: 2").replace("1000000", "200000"))
    assert workplace.assay("run", "--config", "assay.yaml").code == 0
    records = workplace.sessions()[-1].records()
    assert sorted(record.name for record in records) == ["sort_large"] * 2 + ["sort_small"] * 2
    for record in records:
        seconds = {task.stage: task.metrics["process_time"] for task in record.tasks}["sort"]
        written = record.script_metrics["rows_per_s"]
        assert written == pytest.approx(int(record.script_params["rows"]) / seconds)
    assert "sorted 200,000 rows in" in workplace.assay("logs", "sort_large").out


def test_a_benchmark_program_prints_its_help_and_runs_nothing(workplace: Workplace) -> None:
    program = workplace.write(
        "program.py",
        '"""Counts things."""\nimport assay\nwith assay.benchmark() as b:\n'
        '    b.param("max_rows", 7); b.param("fast", False); b.param(name="where", default=str(3))\n'
        "    print('ran')\n",
    )
    done = subprocess.run(
        [sys.executable, program, "--help"], env=workplace.environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "usage: program.py [options]",
        "",
        "Counts things.",
        "",
        "options:",
        "  --max-rows MAX_ROWS           default: 7",
        "  --fast                        default: False",
        "  --where WHERE                 default: (worked out by the program)",
        "  --benchmark-results-path DIR  where results go; without it they are printed",
    ]


def test_a_program_with_its_own_parser_keeps_its_own_help(workplace: Workplace) -> None:
    program = workplace.write(
        "program.py",
        "import argparse\nimport assay\nwith assay.benchmark() as b:\n"
        "    parser = argparse.ArgumentParser(description='mine')\n    parser.parse_known_args()\n",
    )
    done = subprocess.run(
        [sys.executable, program, "--help"], env=workplace.environment, capture_output=True, text=True, check=True
    )
    assert "mine" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "--results-dir kept show",
        "show --results-dir kept",
        "show --results-dir=kept",
        "history --results-dir kept list",
        "history list --results-dir kept",
        "--results-dir=kept history list",
    ],
)
def test_the_results_folder_may_be_named_anywhere(workplace: Workplace, words: str) -> None:
    workplace.write("a.yaml", QUICK)
    assert workplace.assay("--results-dir", "kept", "run", "--config", "a.yaml").code == 0
    assert workplace.assay("run", "--config", "a.yaml", "--results-dir", "other").code == 0  # where the last one wrote
    answer = workplace.assay(*words.split())
    assert answer.code == 0
    assert "quick" in answer.out


def test_a_results_folder_where_there_is_none_is_said(workplace: Workplace) -> None:
    assert workplace.assay("--results-dir", "kept", "schema") == Answer(
        2, "", "assay: this command reads and writes no session: leave out --results-dir\n"
    )
    assert workplace.assay("show", "--results-dir").err == "assay: --results-dir needs a folder: --results-dir DIR\n"


@pytest.mark.parametrize("name", ["größe", "日本", "नमस्ते", "größe-2"])
def test_names_may_be_of_any_script(workplace: Workplace, name: str) -> None:
    workplace.write("a.yaml", QUICK.replace("quick", name))
    assert workplace.assay("run", "--config", "a.yaml", "--session-name", name).code == 0
    assert workplace.assay("logs", name).out == "hello\n"
    assert name in workplace.assay("show", "--entry", name).out
    assert name in (workplace.sessions()[-1].path / "report.html").read_text(encoding="utf-8")


def test_one_name_written_in_two_ways_is_one_name(workplace: Workplace) -> None:
    workplace.write("a.yaml", QUICK.replace("quick", "gro\u0308ße"))
    assert workplace.assay("run", "--config", "a.yaml").code == 0
    assert [record.name for record in workplace.sessions()[-1].records()] == ["größe"]


@pytest.mark.parametrize("name", ["日" * 67, "a b", "a/b", "-a", "\u0301a", "😀"])
def test_a_name_that_can_be_no_folder_is_refused(workplace: Workplace, name: str) -> None:
    workplace.write("a.yaml", QUICK.replace("quick", f'"{name}"'))
    answer = workplace.assay("run", "--config", "a.yaml")
    assert answer.code == 2
    assert "a name may hold letters and digits of any script" in answer.err


def test_a_sink_on_the_command_line_is_not_ignored(workplace: Workplace) -> None:
    workplace.write("a.yaml", QUICK)
    answer = workplace.assay("run", "--config", "a.yaml", "--sink", "mlflow")
    assert (answer.code, answer.out) == (2, "")
    assert "sinks are listed in the YAML under `sinks:`" in answer.err


def test_a_session_compared_with_itself_is_said(workplace: Workplace) -> None:
    workplace.write("a.yaml", QUICK)
    assert workplace.assay("run", "--config", "a.yaml").code == 0
    answer = workplace.assay("compare", "latest", workplace.sessions()[0].path.name)
    assert (answer.code, answer.out) == (2, "")
    assert "one and the same session" in answer.err
    assert workplace.assay("compare", "latest", "latest", "--allow-missing-base").code == 0


def test_resuming_a_complete_session_changes_nothing(workplace: Workplace) -> None:
    workplace.write("a.yaml", QUICK + "  - name: wrong\n    command: [sh, -c, 'exit 3']\n")
    assert workplace.assay("run", "--config", "a.yaml").code == 1
    before = contents(workplace.sessions()[0].path)
    answer = workplace.assay("run", "--resume", "latest")
    assert answer.code == 1
    assert "is complete: there is nothing to resume" in answer.out
    assert contents(workplace.sessions()[0].path) == before


def test_resuming_a_complete_session_still_tells_its_sinks(workplace: Workplace) -> None:
    """A disk that was full when it began: its results are there, and no sink has heard of them."""
    workplace.write("a.yaml", QUICK + "sinks:\n  - {name: jsonl}\n")
    assert workplace.assay("run", "--config", "a.yaml").code == 0
    session = workplace.sessions()[0].path
    told = session / "sinks" / "results.jsonl"
    assert "is complete" in workplace.assay("run", "--resume", "latest").out
    shutil.rmtree(session / "outbox")
    told.unlink()
    assert workplace.assay("run", "--resume", "latest").code == 0
    assert "quick" in told.read_text()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_machine_that_is_not_known_is_not_described(workplace: Workplace) -> None:
    workplace.write("h.json", '{"results": [{"command": "sleep 0.1", "times": [0.1, 0.1], "mean": 0.1}]}')
    assert workplace.assay("history", "import", "h.json").code == 0
    said = workplace.assay("show", next(iter((workplace.folder / "results").glob("*/session.json"))).parent.name).out
    assert "0 cores" not in said
    assert "machine not known" in said


def test_a_report_is_made_of_any_results(workplace: Workplace) -> None:
    workplace.write("alone/metrics.json", '{"rows_per_s": 5.5, "is_success": true}')
    answer = workplace.assay("report", "alone")
    assert (answer.code, answer.out) == (0, "alone/report.html\n")
    page = (workplace.folder / "alone" / "report.html").read_text(encoding="utf-8")
    assert "rows_per_s" in page
    assert "machine not known" in page


@pytest.mark.slow
def test_a_colocation_without_pyarrow_keeps_what_it_measured(workplace: Workplace) -> None:
    workplace.write("lacking/sitecustomize.py", "import sys\nsys.modules['pyarrow'] = None\n")
    workplace.write(
        "c.yml",
        "name: one\npipelines:\n  - name: p\n    loadgen: {component: single_stream, max_queries: 20}\n"
        "    stages:\n      - {id: 0, component: no_op}\n",
    )
    path = f"{workplace.folder / 'lacking'}:{workplace.environment['PYTHONPATH']}"
    answer = workplace.assay("colocate", "c.yml", "--results", "out", PYTHONPATH=path)
    assert answer.code == 0, answer.err
    assert "events are kept as CSV" in answer.err
    assert len(list((workplace.folder / "out").rglob("events.csv"))) == 1


@pytest.mark.parametrize(
    ("module", "said"),
    [
        (
            "import os\nimport not_there_at_all\n",
            "needs 'not_there_at_all', which is not installed (my_stage.py, line 2)",
        ),
        ("x = 1 / 0\n", "cannot be imported: ZeroDivisionError: division by zero (my_stage.py, line 1)"),
        ("import os\nimport json\njson.loads('{')\n", "(my_stage.py, line 3)"),
        ("class S(:\n", "(my_stage.py, line 1)"),
    ],
)
def test_a_stage_that_does_not_import_is_named_with_both_lines(workplace: Workplace, module: str, said: str) -> None:
    workplace.write("my_stage.py", module)
    workplace.write(
        "c.yml",
        "name: one\npipelines:\n  - name: p\n    loadgen: {component: single_stream, max_queries: 20}\n"
        "    stages:\n      - {id: 0, component: my_stage.S}\n",
    )
    answer = workplace.assay("colocate", "c.yml", "--results", "out")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("assay: c.yml:6:28: pipelines[0].stages[0].component: my_stage.S: its module ")
    assert said in answer.err
    assert not (workplace.folder / "out").exists()


def test_a_store_without_what_it_needs_says_so_and_leaves_nothing(workplace: Workplace) -> None:
    workplace.write("lacking/sitecustomize.py", "import sys\nsys.modules['xxhash'] = None\n")
    path = f"{workplace.folder / 'lacking'}:{workplace.environment['PYTHONPATH']}"
    answer = workplace.assay("weights", "init", "repo", PYTHONPATH=path)
    assert (answer.code != 0, answer.out) == (True, "")
    needs = "What the weight store needs (xxhash) is not installed. Install it with: pip install 'assay-bench[weights]'"
    assert answer.err.splitlines() == [f"assay: {needs}"]
    assert not (workplace.folder / "repo").exists()


@pytest.mark.parametrize(
    "hidden",
    [
        "sys.modules['threadpoolctl'] = None",
        (
            "class Blocked:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name == 'threadpoolctl': raise ImportError('threadpoolctl')\n"
            "sys.meta_path.insert(0, Blocked())"
        ),
    ],
)
def test_weight_suites_without_what_they_need_say_so_before_anything_is_made(workplace: Workplace, hidden: str) -> None:
    workplace.write("lacking/sitecustomize.py", f"import sys\n{hidden}\n")
    path = f"{workplace.folder / 'lacking'}:{workplace.environment['PYTHONPATH']}"
    for asked in (("--suite", "clustering"), ("--suite", "compression"), ()):
        answer = workplace.assay("weights", "bench", "--profile", "quick", "--output", "out", *asked, PYTHONPATH=path)
        assert (answer.code, answer.out) == (2, "")
        assert "(threadpoolctl) is not installed" in answer.err
        assert answer.err.splitlines()[-1].endswith("pip install 'assay-bench[weights]'")
        assert len(answer.err.splitlines()) == 1
        assert not (workplace.folder / "out").exists()
