"""Programs that import modules of the frameworks Assay grew from, as their users have them."""

from __future__ import annotations

import json
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from workplace import Workplace

from assay.fallback.program import FOLDER, with_stand_ins
from assay.fallback.stand_ins import NOTES
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
