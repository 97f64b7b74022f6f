"""Files from the command line's side: the users' own, and the examples, on the tiny model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rag_graph import figures

from assay.errors import ConfigError
from assay.loadgen import LoadGen, LoadResult
from assay.loadgen.colocation.build_components import build_graph, build_load
from assay.loadgen.colocation.colocation import Colocation, GroupOutcome
from assay.loadgen.colocation.colocation_config import ColocationConfig
from assay.loadgen.colocation.read_config import read_config
from assay.loadgen.colocation.tables import figure_lines
from assay.stages.pytorch.device import library
from assay.stages.self_rag.sample_data import DATABASE, TownLibrary, write_files

EXAMPLES = Path(__file__).parents[3] / "examples" / "pipeline_configs"
USERS = Path(__file__).with_name("users_self_rag.yml")
MODEL = "microsoft/Phi-3-mini-4k-instruct"


@pytest.fixture
def _one_thread() -> Iterator[None]:
    """More threads than free cores wait for each other longer than the tiny model computes."""
    torch = library("torch", "llm")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def read(text: str, folder: Path) -> ColocationConfig:
    path = folder / "c.yml"
    path.write_text(text)
    return read_config(path)


def run_here(text: str, folder: Path) -> list[LoadResult]:
    """One pipeline after the other in this process, which has imported what takes long."""
    loads = [(build_graph(pipeline), build_load(pipeline)) for pipeline in read(text, folder).pipelines]
    return [LoadGen(graph, load.scheduler, load.stop).run() for graph, load in loads]


def run(text: str, folder: Path) -> GroupOutcome:
    config = read(text, folder)
    outcome = Colocation(config, folder / "out").run(config.pipelines, "together")
    assert outcome.success, [pipeline.result.ending for pipeline in outcome.pipelines]
    return outcome


def shortened(name: str, queries: int) -> str:
    text, often = re.subn(r"max_queries: \d+", f"max_queries: {queries}", (EXAMPLES / name).read_text())
    assert often
    return text


@pytest.mark.parametrize("path", [*sorted(EXAMPLES.glob("*rag*.yml")), USERS], ids=lambda path: path.stem)
def test_there_is_nothing_wrong_with_a_file(path: Path) -> None:
    assert read_config(path).pipelines


def test_the_users_file_has_22_stages_that_share_one_model() -> None:
    [pipeline] = read_config(USERS).pipelines
    assert len(pipeline.stages) == 22
    models = [stage for stage in pipeline.stages if stage.component.endswith("Inference")]
    assert [stage.config.get("depends_on_id") for stage in models] == [None] + [1] * 7


def test_a_wrong_key_of_a_stage_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "c.yml"
    path.write_text(USERS.read_text().replace("retry_is_yes: True", "retry_is_yes: perhaps"))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    [problem] = caught.value.problems
    line = 1 + path.read_text().partition("retry_is_yes: perhaps")[0].count("\n")
    assert problem.startswith(f"{path}:{line}:")
    assert problem.endswith("BinaryRouter: retry_is_yes must be true or false, not 'perhaps'")


@pytest.mark.slow
@pytest.mark.usefixtures("_one_thread")
def test_the_users_file_runs_on_the_tiny_model_and_has_its_figures(tmp_path: Path) -> None:
    write_files(tmp_path / "data", TownLibrary())
    text = USERS.read_text().replace(MODEL, "tiny").replace("tmp/accounting.sqlite", f"{tmp_path}/data/{DATABASE}")
    [result] = run_here(text.replace("max_queries: 1", "max_queries: 2"), tmp_path)
    assert result.completed == 2
    found = figures(result, 0)
    assert found["questions"] == 2
    # The tiny model names neither index, which is the model itself: one call to ask, one to answer.
    assert found["calls_per_question"] == 2
    assert figures(result, 2)["unclear"] == 2
    assert any("asked for cuda, which torch cannot use here" in note for note in result.warnings)


@pytest.mark.slow
def test_the_graph_runs_to_its_end_on_the_tiny_model(tmp_path: Path) -> None:
    outcome = run(shortened("self_rag.yml", 8), tmp_path)
    [pipeline] = outcome.pipelines
    result = pipeline.result
    assert result.completed == result.sent == 8
    assert len(result.stages) == 23
    found = figures(result, 0)
    assert found["questions"] == 8
    formatters = [result.stages[id].latency.count for id in (0, 3, 6, 9, 11, 14, 18, 20)]
    assert found["calls_per_question"] == sum(formatters) / 8
    routers = [figures(result, id) for id in (8, 13, 16)]
    assert found["retries_per_question"] == sum(router["retries"] for router in routers) / 8
    assert found["gave_up"] == sum(router["gave_up"] for router in routers) / 8
    assert sum(router["unclear"] for router in routers) == 0
    assert (
        f"Self RAG, 0 RAG questions dataloader: questions 8, answer_found {found['answer_found']:.4g},"
        in figure_lines(outcome)
    )


@pytest.mark.slow
@pytest.mark.usefixtures("_one_thread")
def test_one_prompt_answers_the_same_questions_with_the_same_figures(tmp_path: Path) -> None:
    apart, together = (figures(result, 0) for result in run_here(shortened("self_rag_monolith.yml", 3), tmp_path))
    assert apart.keys() == together.keys()
    assert apart["questions"] == together["questions"] == 3
    assert apart["document_found"] == together["document_found"] == 1


@pytest.mark.slow
def test_questions_are_answered_beside_a_model_that_trains_on_images(tmp_path: Path) -> None:
    outcome = run(shortened("rag_beside_vision.yml", 3), tmp_path)
    assert [pipeline.result.completed for pipeline in outcome.pipelines] == [3, 3]
    assert figures(outcome["rag"].result, 0)["document_found"] == 1
    assert outcome["vision"].result.reports[1].metrics
