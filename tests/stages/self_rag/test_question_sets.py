from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import main
from assay.errors import DataError
from assay.pipeline.stage import Worker
from assay.stages.self_rag import RAGDataLoader
from assay.stages.self_rag.question import Passage, Question


def loader(path: Path, *rows: Any, **columns: str) -> RAGDataLoader:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    stage = RAGDataLoader(dataset={"path": str(path), **columns})
    stage.setup(Worker())
    return stage


def figures(stage: RAGDataLoader) -> dict[str, Any]:
    return {metric.name: metric.value for metric in stage.measured()}


def test_a_set_of_ones_own_names_its_columns_and_is_scored_by_them(tmp_path: Path) -> None:
    rows = [
        {"q": "Which colour?", "a": ["red", "crimson"], "d": 7},
        {"q": "How many?", "a": 0, "d": None},
        {"q": "Why?", "a": None},
    ]
    stage = loader(tmp_path / "q.jsonl", *rows, question_column="q", answers_column="a", document_column="d")
    assert len(stage) == 3
    assert stage.process(0) == Question(0, "Which colour?")
    stage.score(Question(0, "", answer="It is Crimson.", documents=(Passage("7", "…"),)))
    stage.score(Question(1, "", answer="I count 0 of them."))
    stage.score(Question(2, "", answer="Because."))
    found = figures(stage)
    assert (found["questions"], found["answer_found"], found["document_found"]) == (3, 1, 1)
    stage.start_measuring()
    assert figures(stage) == {}


def test_a_row_without_a_question_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="dataset: row 2 has no text in 'question'"):
        loader(tmp_path / "q.jsonl", {"question": "Why?"}, {"query": "Why?"})


def test_the_command_writes_what_the_stages_make_by_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "questions", str(tmp_path / "out"), "--towns", "5", "--seed", "3"]) == 0
    said = capsys.readouterr().out
    assert said.endswith("20 questions, 10 documents in questions.jsonl, documents.jsonl, towns.sqlite\n")
    written = RAGDataLoader(dataset={"path": str(tmp_path / "out" / "questions.jsonl")})
    made = RAGDataLoader(towns=5, seed=3)
    for stage in (written, made):
        stage.setup(Worker())
    assert [written.process(n) for n in range(20)] == [made.process(n) for n in range(20)]
    assert main(["data", "questions", str(tmp_path / "out"), "--towns", "1"]) == 2
    assert "--towns must be a whole number from 2 to 132, not 1" in capsys.readouterr().err
