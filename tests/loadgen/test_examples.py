"""The examples of load and colocation are read; those without a model, and with a curation pipeline, are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.loadgen import LoadGen
from assay.loadgen.colocation.build_components import build_graph, build_load
from assay.loadgen.colocation.colocation import Colocation
from assay.loadgen.colocation.read_config import read_config

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(
    p for folder in ("colocation", "pipeline_configs") for p in (ROOT / "examples" / folder).glob("*.yml")
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_nothing_wrong_with_them(path: Path) -> None:
    assert read_config(path).pipelines


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


def test_a_chain_that_does_nothing_runs() -> None:
    (pipeline,) = read_config(ROOT / "examples" / "pipeline_configs" / "noop.yml").pipelines
    load = build_load(pipeline)
    result = LoadGen(build_graph(pipeline), load.scheduler, load.stop, load.queue_depth).run()
    assert (result.completed, result.asked_rate) == (2000, None)
    assert [stage.latency.count for stage in result.stages.values()] == [2000, 2000, 0, 2000]


def test_a_curation_pipeline_runs_under_load_beside_an_antagonist(tmp_path: Path) -> None:
    manifest = ROOT / "tests" / "fixtures" / "audio" / "alm" / "sample_input.jsonl"
    text = (ROOT / "examples" / "colocation" / "alm_beside_antagonist.yml").read_text()
    assert "data/alm.jsonl}" in text
    path = tmp_path / "alm.yml"
    path.write_text(text.replace("paths: data/alm.jsonl", f"paths: {manifest}").replace("duration: 5", "duration: 0.5"))
    config = read_config(path)
    outcome = Colocation(config, tmp_path / "out").run(config.pipelines, "together")
    assert outcome.success, [pipeline.result.ending for pipeline in outcome.pipelines]
    alm = outcome["alm"].result
    assert alm.completed == alm.sent > 100
    assert [stage.name for stage in alm.stages.values()] == ["manifest", "builder", "overlap"]
    assert alm.stages[1].latency.count == alm.completed
    assert outcome["antagonist"].result.completed > 0
