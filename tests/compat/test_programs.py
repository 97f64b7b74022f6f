"""Programs that import modules of the frameworks Assay grew from, as their users have them."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from workplace import SOURCE, Workplace

from assay.compat.stand_ins import NOTES
from assay.compat.user_code import FOLDER, with_stand_ins
from assay.record import Record

TEMPLATE = """\
#!/usr/bin/env python3
import argparse
import json
import pickle
import time
from pathlib import Path

from loguru import logger
from nemo_curator.tasks import Task
from nemo_curator.tasks.utils import TaskPerfUtils


def run_benchmark(args):
    start_time = time.time()
    with Task("my_operation", TaskPerfUtils()):
        result = [number for number in range(args.rows)]
    execution_time = time.time() - start_time
    logger.info(f"took {execution_time} s")
    with open(args.benchmark_results_path / "params.json", "w") as f:
        json.dump({"rows": args.rows}, f, indent=2)
    with open(args.benchmark_results_path / "metrics.json", "w") as f:
        json.dump({"execution_time_s": execution_time, "items_processed": len(result)}, f, indent=2)
    tasks = Task.get_all_tasks()
    with open(args.benchmark_results_path / "tasks.pkl", "wb") as f:
        pickle.dump(tasks, f)


def main():
    parser = argparse.ArgumentParser(description="My benchmark")
    parser.add_argument("--benchmark-results-path", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10)
    run_benchmark(parser.parse_args())


if __name__ == "__main__":
    main()
"""
NIGHTLY = """\
import argparse
import json
import pickle
from pathlib import Path


def run_benchmark(args) -> dict:
    return {"params": vars(args), "metrics": {"is_success": True, "num_removed": 1000}, "tasks": []}


def write_results(results: dict, output_path: str):
    Path(output_path).mkdir(parents=True, exist_ok=True)
    with open(f"{output_path}/params.json", "w") as f:
        json.dump(results["params"], f, indent=2)
    with open(f"{output_path}/metrics.json", "w") as f:
        json.dump(results["metrics"], f, indent=2)
    with open(f"{output_path}/tasks.pkl", "wb") as f:
        pickle.dump(results["tasks"], f)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--benchmark-results-path", required=True)
    args = parser.parse_args()
    results = run_benchmark(args)
    write_results(results, args.benchmark_results_path)
    return 0 if results["metrics"]["is_success"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
"""
COMPARED = """
from benchmarks.analysis import BenchmarkAnalyzer
analyzer = BenchmarkAnalyzer()
comparison = analyzer.compare_results('baseline', 'feature')
print('Performance regression:', comparison['regression_detected'])
results = analyzer.load_results('feature')
print('Key insights:', analyzer.extract_insights(results), analyzer.generate_recommendations(results))
"""
SUITE = """\
import json, sys
from pathlib import Path

from benchmarks.analysis import BenchmarkAnalyzer
from benchmarks.base import BenchmarkSuite
from benchmarks.main import BenchmarkOrchestrator, BenchmarkProfile
from benchmarks.monitoring import MetricsCollector


class CustomBenchmark(BenchmarkSuite):
    def __init__(self):
        super().__init__("custom")

    def run_scenario(self, name: str, config: dict) -> dict:
        return {"custom_metric": 42.0, "iterations": config["iterations"]}

    def get_scenarios(self) -> list:
        return ["scenario1", "scenario2"]


orchestrator = BenchmarkOrchestrator()
orchestrator.suites['custom'] = CustomBenchmark()
custom_config = {'suites': ['custom'], 'iterations': 5, 'models': ['small'], 'timeout': 1200}
results = orchestrator.run_all(profile=BenchmarkProfile.CUSTOM, custom_config=custom_config)
collector = MetricsCollector(backend="prometheus", endpoint="http://127.0.0.1:9")
sent = collector.send_metrics(results)
out = Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
out.joinpath("params.json").write_text(json.dumps({"analyzer": hasattr(BenchmarkAnalyzer(), "compare_results")}))
measured = {metric.name: metric.value for metric in results.metrics()}
out.joinpath("metrics.json").write_text(json.dumps({"is_success": results.success, **measured}))
"""
ENOUGH = """
import json, pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
(out / "params.json").write_text("{}")
def metrics(**values): (out / "metrics.json").write_text(json.dumps(values))
"""


RUN_STAGE = "from stages.stage import Stage\nclass Own(Stage):\n  def run(self, x): return x + 1"
SPAWNED = f"""{ENOUGH}
def name():
    from nemo_curator.tasks import Task
    return Task.__module__
if __name__ == "__main__":
    import multiprocessing, nemo_curator
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        metrics(there=pool.apply(name))
"""
REAL = f"""import pathlib, sys
# Behind Assay's folder on the path, as what is installed in an interpreter always is.
sys.path.append(str(pathlib.Path(__file__).parent / "later"))
{ENOUGH}
from nemo_curator.tasks import Task
import nemo_curator, loguru
metrics(real=Task.real, package=nemo_curator.__file__, loguru=loguru.__file__)
"""
FORGED = f"import os; open(os.environ[{NOTES!r}], 'w').write('rm -rf\\x1b[2J\\nnemo_curator.tasks\\n' * 9)\n"
SCRIPTS = {
    "template": TEMPLATE,
    "nightly": NIGHTLY,
    "bare": TEMPLATE,
    "real": REAL,
    "package": f"{ENOUGH}\nfrom stages.own import VALUE\nmetrics(value=VALUE)",
    "folder": f"{ENOUGH}\nfrom stages.own import VALUE, Own\nmetrics(value=VALUE, added=Own().process(1))",
    "spawned": SPAWNED,
    "submodule": "from nemo_curator.pipeline import Pipeline",
    "name": "from nemo_curator.tasks import AudioTask",
    "isolated": "from nemo_curator.tasks import Task",
    "forged": f"{FORGED}{ENOUGH}\nmetrics(a=1)",
}
FILES = {
    "real/later/nemo_curator/__init__.py": "",
    "real/later/nemo_curator/tasks.py": "class Task: real = True",
    "package/stages/__init__.py": "",
    "package/stages/own.py": "VALUE = 5",
    "folder/stages/own.py": f"VALUE = 5\n{RUN_STAGE}",
}
INSTALL = "; install nemo_curator into the interpreter that runs this, or use one that has it"


@dataclass(frozen=True)
class Ran:
    place: Workplace
    records: Mapping[str, Record]
    out: str
    log: str

    def said(self, entry: str) -> str:
        """What was printed of one entry."""
        return self.out.partition(f"\tRunning {entry}\n")[2].partition("\n\tRunning ")[0] + "\n"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Every script once, each in a folder of its own."""
    place = Workplace(tmp_path_factory.mktemp("programs"))
    venv.create(place.folder / "bare-python", with_pip=False, symlinks=True)
    more = {
        "template": ", args: --rows 7",
        # An interpreter with nothing installed, not even Assay.
        "bare": f", interpreter: {place.folder}/bare-python/bin/python, env: {{PYTHONPATH: ''}}",
    }
    for name, text in {**FILES, **{f"{name}/mine.py": text for name, text in SCRIPTS.items()}}.items():
        place.write(name, text)
    entries = {name: f"script: {name}/mine.py{more.get(name, '')}" for name in SCRIPTS}
    entries["suite"] = f"command: '{sys.executable} -m benchmarks.compression --help'"
    entries["isolated"] = f"command: '{sys.executable} -E {place.folder}/isolated/mine.py'"
    lines = [f"- {{name: {name}, {how}}}" for name, how in entries.items()]
    place.write("bench.yaml", "\n".join(["results_dir: results", "entries:", *lines]))
    answer = place.assay("run", "--config", "bench.yaml")
    return Ran(place, place.records(), answer.out, place.sessions()[-1].log.read_text())


def test_a_script_from_the_template_runs_as_it_is_and_the_log_says_what_stood_in(session: Ran) -> None:
    record = session.records["template"]
    assert record.success, record.reasons
    assert record.script_metrics["items_processed"] == 7
    assert [task.stage for task in record.tasks] == ["my_operation"]
    assert record.warnings == ()
    line = "nemo_curator.tasks, nemo_curator.tasks.utils: not found, so Assay's own stood in for them"
    assert line in session.said("template")
    assert line in session.log


def test_a_script_of_the_older_framework_runs_as_it_is(session: Ran) -> None:
    record = session.records["nightly"]
    assert record.success, record.reasons
    assert record.script_metrics["num_removed"] == 1000
    assert "stood in" not in session.said("nightly")


def test_a_suite_is_started_by_its_older_name(session: Ran) -> None:
    record = session.records["suite"]
    assert record.success, record.reasons
    assert "--no-visualize" in Path(record.stdouterr_file).read_text()
    assert "\t\tbenchmarks.compression: not found, so Assay's own stood in for it\n" in session.said("suite")


def test_an_interpreter_without_assay_and_without_loguru_runs_it_too(session: Ran) -> None:
    record = session.records["bare"]
    assert record.success, record.reasons
    assert [task.stage for task in record.tasks] == ["my_operation"]
    assert "loguru, nemo_curator.tasks, nemo_curator.tasks.utils: not found" in session.said("bare")
    assert "| INFO     | took " in Path(record.stdouterr_file).read_text()


def test_the_real_package_wins_wherever_it_is_installed(session: Ran) -> None:
    record = session.records["real"]
    assert record.success, record.reasons
    assert record.script_metrics["real"] is True
    assert record.script_metrics["package"] == f"{session.place.folder}/real/later/nemo_curator/__init__.py"
    assert "site-packages" in record.script_metrics["loguru"]
    assert "stood in" not in session.said("real")


def test_a_package_of_the_users_own_keeps_its_name(session: Ran) -> None:
    assert session.records["package"].script_metrics == {"value": 5}
    assert "stood in" not in session.said("package")


def test_a_folder_without_the_base_module_keeps_its_own_and_gets_ours(session: Ran) -> None:
    assert session.records["folder"].script_metrics == {"value": 5, "added": 2}
    assert "\t\tstages.stage: not found, so Assay's own stood in for it\n" in session.said("folder")


def test_processes_that_the_program_starts_have_them_too(session: Ran) -> None:
    assert session.records["spawned"].script_metrics == {"there": "assay.record.task"}


def test_what_assay_does_not_have_is_named_with_what_to_do(session: Ran) -> None:
    [reason] = session.records["submodule"].reasons
    assert "No module named 'nemo_curator.pipeline': nemo_curator is not installed, and Assay stands in only" in reason
    assert reason.endswith(INSTALL)
    [reason] = session.records["name"].reasons
    assert "cannot import name 'AudioTask' from 'nemo_curator.tasks'" in reason
    assert reason.endswith(INSTALL)


def test_where_nothing_can_stand_in_the_import_to_use_is_named(session: Ran) -> None:
    [reason] = session.records["isolated"].reasons
    assert reason == (
        "exited with code 1: ModuleNotFoundError: No module named 'nemo_curator'; "
        "Assay's own: `from assay import Task`, `from assay import TaskPerfUtils`"
    )


def test_what_a_program_writes_into_the_notes_is_not_believed(session: Ran) -> None:
    assert session.records["forged"].success
    assert "\t\tnemo_curator.tasks: not found, so Assay's own stood in for it\n" in session.said("forged")
    assert "rm -rf" not in session.log


def test_the_record_of_the_environment_knows_nothing_of_it(session: Ran) -> None:
    folder = session.place.sessions()[-1].path
    assert str(FOLDER) not in (folder / "env.json").read_text()
    assert str(FOLDER) not in json.dumps(session.records["template"].to_json())


@pytest.mark.slow
def test_a_suite_of_ones_own_runs_as_it_is(workplace: Workplace) -> None:
    workplace.write("mine.py", SUITE)
    workplace.write("bench.yaml", "results_dir: results\nentries:\n- {name: mine, script: mine.py}\n")
    answer = workplace.assay("run", "--config", "bench.yaml")
    assert answer.code == 0, answer.out + answer.err
    metrics = workplace.records()["mine"].script_metrics
    assert metrics["custom.scenario1.custom_metric"] == 42.0
    assert metrics["custom.scenario2.iterations"] == 5
    assert "benchmarks.analysis, benchmarks.base, benchmarks.main, benchmarks.monitoring: not found" in answer.out


def child(code: str, folder: Path) -> str:
    """What a program prints, with nothing but the variables of one that Assay starts."""
    environment = with_stand_ins({"PYTHONPATH": SOURCE, "PATH": "/usr/bin:/bin"})
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_two_results_are_compared_under_the_older_name(tmp_path: Path) -> None:
    for name in ("baseline", "feature"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "params.json").write_text("{}")
        (tmp_path / name / "metrics.json").write_text('{"rows": 5}')
    said = child(COMPARED, tmp_path)
    assert "Performance regression: " in said
    assert "Key insights: " in said


def test_a_python_that_is_too_old_is_left_as_it_is_or_named(tmp_path: Path) -> None:
    (tmp_path / "later/stages").mkdir(parents=True)
    (tmp_path / "later/stages/__init__.py").write_text("print('yours')")
    old = "import sys; sys.version_info = (3, 6, 0); sys.path.append('later')\n"
    assert child(f"{old}import stages", tmp_path) == "yours\n"
    assert "No module named 'nemo_curator'" in child(f"{old}import nemo_curator", tmp_path)
    cannot = "import sys; sys.version_info = (3, 10, 0); sys.modules['assay.record.task'] = None\n"
    said = child(f"{cannot}from nemo_curator.tasks import Task", tmp_path)
    assert "nemo_curator.tasks is not installed, and Assay's Task cannot stand in: it needs Python 3.11, this" in said


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, f"{FOLDER}"),
        ("", f"{FOLDER}"),
        ("/a:/b", f"/a:/b:{FOLDER}"),
        ("/a:", f"/a::{FOLDER}"),
        (f"/a:{FOLDER}:/b", f"/a:{FOLDER}:/b"),
    ],
)
def test_the_users_path_stays_and_comes_first(before: str | None, after: str) -> None:
    given = {"A": "1"} if before is None else {"A": "1", "PYTHONPATH": before}
    assert with_stand_ins(given, Path("/notes")) == {"A": "1", "PYTHONPATH": after, NOTES: "/notes"}
    assert "PYTHONPATH" not in given or given["PYTHONPATH"] == before
