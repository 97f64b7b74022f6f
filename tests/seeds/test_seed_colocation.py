"""The samples of the colocation benchmark's document, run as its users would."""

from __future__ import annotations

import json

import pytest
from workplace import Workplace

STAGES = """\
from stages.stage import Stage


class Loader(Stage):
    def __init__(self, config):
        super().__init__(config)
        self.rows = list(range(10))
        self.batch_size = config["batch_size"]

    def __len__(self):
        return len(self.rows)

    def run(self, number):
        return self.rows[number : number + self.batch_size]


class Adder(Stage):
    def run(self, rows):
        assert self.config["model_name"] == "sum"
        return sum(rows)
"""
SCHEDULER = """\
import numpy as np
from loadgen.schedulers.scheduler import LoadScheduler


class Bursts(LoadScheduler):
    def __init__(self, size, gap_s):
        self.size, self.gap_s = size, gap_s

    def arrivals(self, rng):
        at = 0
        while True:
            yield np.full(self.size, at, np.int64)
            at += round(self.gap_s * 1e9)
"""
CONFIG = """\
name: "a_run"
pipelines:
  - name: "Adding"
    inputs: [0] # where queries come in
    outputs: [1]
    dataset_stage_id: 0
    loadgen:
      component: {component}
      queue_depth: 10
      max_queries: 20
      config:
        {load}
    stages:
      - name: "Loading"
        id: 0
        outputs: [1]
        component: stages.adding.Loader
        config:
            batch_size: 3
      - name: "The Model"
        id: 1
        component: stages.adding.Adder
        config:
            model_name: "sum"
"""


@pytest.mark.parametrize(
    ("component", "load"),
    [
        ("loadgen.OfflineLoadScheduler", "rate: 400 # a second"),
        ("loadgen.PoissonLoadScheduler", "rate: 400"),
        ("loadgen.schedulers.bursts.Bursts", "{size: 5, gap_s: 0.01}"),
    ],
    ids=["offline", "poisson", "own"],
)
def test_a_configuration_with_stages_and_a_scheduler_of_ones_own_runs(
    workplace: Workplace, component: str, load: str
) -> None:
    workplace.write("stages/adding/__init__.py", STAGES)
    workplace.write("loadgen/schedulers/bursts.py", SCHEDULER)
    workplace.write("pipeline_configs/adding.yml", CONFIG.format(component=component, load=load))
    answer = workplace.assay("colocate", "pipeline_configs/adding.yml", "--results", "out", "--quiet")
    assert answer.code == 0, answer.out + answer.err
    stood_in = "loadgen.schedulers.scheduler, stages.stage" if "Bursts" in component else "stages.stage"
    assert f"{stood_in}: not found" in answer.err
    [run] = json.loads((workplace.folder / "out/colocation.json").read_text())["runs"]
    [together] = run["pipelines"]
    assert (together["pipeline"], together["sent"], together["completed"]) == ("Adding", 20, 20)
