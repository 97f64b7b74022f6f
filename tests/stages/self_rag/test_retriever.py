from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from assay.errors import DataError, MissingExtra
from assay.pipeline.stage import Worker
from assay.stages.pytorch.device import library
from assay.stages.pytorch.tiny_model import write_tiny_model
from assay.stages.self_rag import Retriever
from assay.stages.self_rag.question import Question
from assay.stages.self_rag.sample_data import DOCUMENTS, TownLibrary, write_files


def retriever(**keys: object) -> Retriever:
    stage = Retriever(**keys)  # type: ignore[arg-type]
    stage.setup(Worker())
    return stage


@pytest.mark.parametrize(("towns", "seed"), [(24, 0), (24, 1), (132, 7)])
def test_the_planted_document_is_found_among_the_wrong_ones(towns: int, seed: int) -> None:
    stage = retriever(towns=towns, seed=seed)
    wrong_first = 0
    for n, known in enumerate(TownLibrary(towns, seed).questions):
        if known.document.startswith("town"):
            ids = [document.id for document in stage.process(Question(n, known.text)).documents]
            assert known.document in ids
            wrong_first += ids[0].startswith("wrong")
    assert wrong_first > 0, "wrong documents that no search prefers would tempt nobody"


def test_wrong_documents_hold_none_of_the_answers() -> None:
    library = TownLibrary(132, seed=3)
    texts = {document.id: document.text for document in library.documents}
    for known in library.questions:
        if known.document.startswith("town"):
            assert known.answers[0] in texts[known.document]
            assert known.answers[0] not in texts[known.document.replace("town", "wrong")]


def test_the_same_seed_makes_the_same_towns_and_another_seed_others() -> None:
    assert TownLibrary(seed=4).documents == TownLibrary(seed=4).documents
    assert TownLibrary(seed=4).questions != TownLibrary(seed=5).questions


def test_documents_of_a_file_are_searched_and_searches_replace_each_other(tmp_path: Path) -> None:
    write_files(tmp_path, TownLibrary(count=2))
    stage = retriever(corpus={"path": str(tmp_path / DOCUMENTS)}, top_k=50)
    first = stage.process(Question(0, "Dunstaby"))
    assert len(first.documents) == 4
    assert len(stage.process(first).documents) == 4


def test_a_search_takes_the_last_wording() -> None:
    stage = retriever(top_k=2)
    found = stage.process(Question(0, "What is the town of Dunstaby known for?", rewrites=("Fenkaby", "Dunstastead")))
    assert {document.id for document in found.documents} == {"town-012", "wrong-012"}


def test_columns_have_the_names_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(json.dumps({"passage": text}) for text in ("apples", "", "pears and plums")) + "\n\n")
    stage = retriever(corpus={"path": str(path), "text_column": "passage"}, top_k=1)
    assert [(d.id, d.text) for d in stage.process(Question(0, "plums?")).documents] == [("2", "pears and plums")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"corpus: there is no file .*own.jsonl; write one with: assay data questions FOLDER"),
        ("", "corpus: there is no document in it"),
        ('{"text": 1}\n[1]\n', r"own.jsonl:2: is no JSON object"),
        ('{"text":\n', r"own.jsonl:1"),
    ],
)
def test_a_corpus_that_cannot_be_had_is_one_message(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "own.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=message):
        retriever(corpus={"path": str(path)})


def test_an_embedding_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no model at '.*nowhere': .* use `embedding: hashed`"):
        retriever(embedding=str(tmp_path / "nowhere"))


def test_without_the_extra_there_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(
        MissingExtra, match=r"faiss is not installed. Install it with: pip install 'assay-bench\[rag\]'"
    ):
        retriever()


def test_a_data_set_without_network_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's address is one where nobody listens."""
    constants = library("huggingface_hub.constants", "llm")
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(
        DataError, match=r"'nobody/nothing' is not in .*, and the hub cannot be reached .*leave `corpus`"
    ):
        retriever(corpus={"name": "nobody/nothing"})


@pytest.mark.slow  # sentence-transformers takes seconds to import
def test_a_sentence_transformer_of_a_folder_is_used(tmp_path: Path) -> None:
    """The tiny model knows nothing, but the same text is nearest to itself."""
    write_tiny_model(tmp_path / "model")
    stage = retriever(embedding=str(tmp_path / "model"), top_k=1)
    for document in TownLibrary().documents[:8]:
        assert stage.process(Question(0, document.text)).documents == (document,)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"top_k": 0}, "top_k must be a whole number of 1 or more, not 0"),
        ({"towns": 1}, "towns must be a whole number from 2 to 132, not 1"),
        ({"corpus": {"path": "a", "name": "b"}}, "give `path` or `name`, one of the two"),
        ({"corpus": {"pth": "a"}}, "corpus: unknown key 'pth'; did you mean 'path'"),
    ],
)
def test_wrong_values_are_named(keys: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Retriever(**keys)  # type: ignore[arg-type]
