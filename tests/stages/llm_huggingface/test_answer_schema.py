from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from llm_runs import figures, run, set_up
from pydantic import BaseModel, Field

from assay.errors import UsageError
from assay.loadgen import Node
from assay.stages.llm_huggingface import Inference, MockDataLoader
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch


class Verdict(BaseModel):
    kind: Literal["yes", "no", "perhaps"]
    points: int = Field(ge=0, le=9)
    sure: bool


def ask(given: Any, prompts: int = 3, **keys: Any) -> tuple[Inference, AnswerBatch]:
    stage = set_up(Inference(data_model=given, **keys))
    batch = PromptBatch(tuple(f"Is {n} right?" for n in range(prompts)))
    return stage, stage.collected(list(stage.process(batch)))


@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_answers_are_instances_of_the_model(temperature: float):
    stage, answer = ask(f"{__name__}.Verdict", max_new_tokens=60, model={"temperature": temperature})
    assert all(isinstance(each, Verdict) for each in answer.parsed)
    assert [Verdict.model_validate_json(text) for text in answer.texts] == list(answer.parsed)
    found = {metric.name: metric.value for metric in stage.measured()}
    assert found["schema_followed"] == 1.0


def test_a_schema_written_in_the_file_is_followed_too():
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "green"]}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    _, answer = ask(schema, max_new_tokens=40)
    assert all(each in ({"colour": "red"}, {"colour": "green"}) for each in answer.parsed)


@pytest.mark.parametrize(
    "given", [f"{__name__}.Verdict", {"type": "array", "items": {"type": "integer"}, "minItems": 9}]
)
def test_an_answer_that_is_cut_off_follows_nothing_and_counts_as_such(given: Any):
    stage, answer = ask(given, max_new_tokens=4)
    assert answer.parsed == (None, None, None)
    assert {metric.name: metric.value for metric in stage.measured()}["schema_followed"] == 0.0


def test_the_schemas_of_users_files_are_there_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stage, answer = ask("utils.schemas.rag.Score", max_new_tokens=20)
    assert {type(each.score) for each in answer.parsed} == {bool}
    assert stage.notes() == ["utils.schemas.rag.Score is not found here: Assay's own Score stood in for it"]
    # The user's own module wins.
    (tmp_path / "utils" / "schemas").mkdir(parents=True)
    (tmp_path / "utils" / "schemas" / "rag.py").write_text(
        "from pydantic import BaseModel\nclass Score(BaseModel):\n    grade: bool\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    theirs = Inference(data_model="utils.schemas.rag.Score")
    for name in ("utils", "utils.schemas", "utils.schemas.rag"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert theirs.schema is not None
    assert set(theirs.schema.schema["properties"]) == {"grade"}
    assert theirs.schema.note == ""


def test_all_answers_of_a_run_follow_the_schema():
    kept: list[AnswerBatch] = []
    data = MockDataLoader(batch_size=2, tokenizer_stage_id=1)
    stage = Inference(data_model="utils.schemas.rag.RouterAnswer", max_new_tokens=40)
    result = run(Node(0, data, outputs=(1,)), Node(1, stage), queries=5, keep=kept)
    assert figures(result, 1)["schema_followed"] == 1.0
    assert {each.index_backend for answer in kept for each in answer.parsed} <= {"sqlite", "llm"}


def test_a_schema_that_means_nothing_is_refused():
    with pytest.raises(UsageError, match="data_model: the schema cannot be followed: Invalid type: nonsense"):
        ask({"type": "nonsense"})
