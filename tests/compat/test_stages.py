"""Stages of users' own, as the colocation benchmark that Assay grew from has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from workplace import Workplace

STAGE = """\
from loguru import logger
from stages.stage import Stage


class MyStage(Stage):
    def __init__(self, config):
        super().__init__(config)
        self.batch_size = config["batch_size"]
        self.heard = config["heard"]

    def run(self, data):
        from nemo_curator.tasks import Task

        with open(self.heard, "a") as out:
            print(self.batch_size, Task.__module__, file=out)
        return data


class Plain(Stage):
    def run(self, data):
        return self.config["answer"]
"""
CONFIG = """\
name: benchmark_run_name
pipelines:
  - name: Pipeline Name
    inputs: [0]
    outputs: [2]
    dataset_stage_id: 0
    loadgen:
      component: loadgen.OfflineLoadScheduler
      queue_depth: 10
      max_queries: 3
    stages:
      - {{name: Data, id: 0, outputs: [1], component: stages.synthetic.Samples, config: {{count: 4}}}}
      - {{name: Mine, id: 1, outputs: [2], component: stages.my_new_stage.MyStage, run: {place}, config: {keys}}}
      - {{name: Plain, id: 2, component: stages.my_new_stage.Plain, config: {{answer: 42}}}}
"""


@pytest.mark.parametrize(("place", "package"), [("inline", False), ("process", True)])
def test_a_stage_with_run_is_put_under_load_as_it_is(workplace: Workplace, place: str, package: bool) -> None:
    heard = workplace.folder / "heard.txt"
    workplace.write("stages/my_new_stage/__init__.py", STAGE)
    if package:
        workplace.write("stages/__init__.py", "")
    keys = f"{{batch_size: 8, heard: {heard}}}"
    workplace.write("pipeline_configs/mine.yml", CONFIG.format(place=place, keys=keys))
    answer = workplace.assay("colocate", "pipeline_configs/mine.yml", "--results", "out", "--events", "none", "--quiet")
    assert answer.code == 0, answer.out + answer.err
    assert heard.read_text().splitlines() == ["8 assay.record.task"] * 3
    assert answer.err == "stages.stage: not found, so Assay's own stood in for it\n"


def test_in_a_session_its_log_says_it(workplace: Workplace) -> None:
    workplace.write("stages/my_new_stage/__init__.py", STAGE)
    keys = f"{{batch_size: 8, heard: {workplace.folder}/heard.txt}}"
    workplace.write("mine.yml", CONFIG.format(place="inline", keys=keys))
    entry = "{name: load, script: colocation_benchmark.py, args: --config mine.yml}"
    workplace.write("bench.yaml", f"results_dir: results\nentries:\n- {entry}\n")
    answer = workplace.assay("run", "--config", "bench.yaml")
    assert answer.code == 0, answer.out + answer.err
    said = "nemo_curator.tasks, stages.stage: not found, so Assay's own stood in for them"
    assert said in workplace.sessions()[0].log.read_text()


def test_a_base_class_of_the_other_framework_is_named_with_its_file(workplace: Workplace) -> None:
    workplace.write("stages/stage.py", "class Stage: pass")
    workplace.write("stages/my_new_stage/__init__.py", STAGE)
    workplace.write("mine.yml", CONFIG.format(place="inline", keys="{}"))
    answer = workplace.assay("colocate", "mine.yml", "--check")
    assert answer.code == 2
    assert (
        f"'stages.my_new_stage.Plain' is no stage: it does not inherit from Stage of Assay but from that of "
        f"{workplace.folder}/stages/stage.py; where stages.stage is not found, Assay's own stands in"
    ) in answer.err


def test_what_is_wrong_with_its_keys_is_named_with_the_line(workplace: Workplace) -> None:
    workplace.write("stages/my_new_stage/__init__.py", STAGE.replace("__init__(self, config)", "__init__(self, size)"))
    workplace.write("mine.yml", CONFIG.format(place="inline", keys="{sise: 5}"))
    answer = workplace.assay("colocate", "mine.yml", "--check")
    assert answer.code == 2
    assert "mine.yml:13:" in answer.err
    assert "stages[1].config.sise: MyStage: unknown key 'sise'; did you mean 'size'?" in answer.err


def test_a_folder_that_comes_later_is_not_hidden_by_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.loadgen.colocation.build_components import STAGES

    assert STAGES.find("stages.synthetic.NoOp").__module__ == "assay.stages.synthetic.plain_stages"
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "later.py").write_text(STAGE)
    monkeypatch.syspath_prepend(tmp_path)
    assert STAGES.find("stages.later.MyStage").__name__ == "MyStage"
