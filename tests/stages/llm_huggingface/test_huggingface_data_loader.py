from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from llm_runs import loader, set_up

from assay.errors import DataError, MissingExtra, UsageError
from assay.stages.llm_huggingface import Finetune, HuggingFaceDataLoader, Inference, MockDataLoader
from assay.stages.llm_huggingface.chat import IGNORED
from assay.stages.pytorch.device import library
from assay.stages.pytorch.tiny_model import tiny_rows, tiny_tokenizer, write_tiny_model

ROWS = [{"ask": f"What is {n}?", "say": f"It is {n}."} for n in range(7)]
COLUMNS = {"system_column_name": None, "user_column_name": "ask", "assistant_column_name": "say"}


@pytest.fixture(scope="module")
def tuned() -> Any:
    return set_up(Finetune())


@pytest.fixture(scope="module")
def asking() -> Any:
    return set_up(Inference(max_new_tokens=2))


def test_examples_have_the_answer_as_labels_and_nothing_else(tuned: Any):
    batch = loader(tuned, batch_size=4, shuffle=False).process(0)
    tokenizer = tuned.tokenizer
    for n, row in enumerate(tiny_rows()[:4]):
        labels = batch.labels[n]
        learnt = tokenizer.decode(labels[labels != IGNORED])
        assert learnt == f"{row.output}<|im_end|>\n"
        text = tokenizer.decode(batch.input_ids[n][batch.attention_mask[n] == 1])
        asked = row.input or row.instruction
        assert text == batch.prompts[n] + learnt
        assert f"<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n{learnt}" in text
        assert (f"<|im_start|>system\n{row.instruction}<|im_end|>\n" in text) is bool(row.input)
    assert batch.label_tokens == int((batch.labels[:, 1:] != IGNORED).sum())
    assert batch.tokens == int(batch.attention_mask.sum())
    assert batch.split == "train"


def test_prompts_are_padded_on_the_left_and_have_no_labels(asking: Any):
    batch = loader(asking, batch_size=4, split="validation", shuffle=False).process(1)
    assert batch.labels is None
    assert batch.references == tuple(row.output for row in tiny_rows("validation")[4:8])
    for n, prompt in enumerate(batch.prompts):
        ids = asking.tokenizer(prompt).input_ids
        assert batch.input_ids[n][-len(ids) :].tolist() == ids
        assert batch.attention_mask[n].sum() == len(ids)
    assert batch.split == "validation"


def test_every_row_comes_once_a_pass_and_the_order_is_the_seeds():
    def order(seed: int) -> list[str]:
        data = loader(batch_size=8, seed=seed, split=["test"])
        return [text for n in range(len(data)) for text in data.process(n).references]

    assert sorted(order(1)) == sorted(row.output for row in tiny_rows("test"))
    assert order(1) == order(1) != order(2)


def test_splits_follow_each_other_and_what_does_not_fill_a_batch_is_left_out():
    data = loader(batch_size=10, split=["validation", "test"])
    assert len(data) == 12
    assert [data.process(n).split for n in (0, 5, 6, 11)] == ["validation", "validation", "test", "test"]
    assert {len(data.process(n).prompts) for n in range(12)} == {10}
    assert len(loader(batch_size=100, split="test")) == 1


def test_long_rows_are_cut_and_counted(tuned: Any):
    data = loader(tuned, batch_size=4, max_length=12)
    data.start_measuring()
    assert data.process(0).input_ids.shape[1] == 12
    assert {metric.name: metric.value for metric in data.measured()} == {"rows": 4, "rows_cut": 4}


def test_a_mock_reads_no_data_set_and_says_so(asking: Any):
    keys = {"dataset": {"name": "yahma/alpaca-cleaned"}, "split": ["train"], "tokenizer_stage_id": 1}
    mock = set_up(MockDataLoader(batch_size=2, **keys), stage_1=asking)
    assert len(mock.process(0).prompts) == 2
    assert mock.notes() == ("made-up rows: the data set 'yahma/alpaca-cleaned' is not read",)
    assert set_up(MockDataLoader()).notes() == ()


def write(path: Path) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, ["ask", "say"])
            writer.writeheader()
            writer.writerows(ROWS)
    elif path.suffix == ".parquet":
        library("datasets", "llm").Dataset.from_list(ROWS).to_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        library("datasets", "llm").DatasetDict(
            {"train": library("datasets", "llm").Dataset.from_list(ROWS)}
        ).save_to_disk(path)
    return path


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.csv", "rows.parquet", "saved"])
def test_rows_of_a_file_or_folder_are_read(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(library("datasets.config", "llm"), "HF_DATASETS_CACHE", tmp_path / "cache")
    path = write(tmp_path / name)
    data = loader(batch_size=7, shuffle=False, dataset={"name": str(path), **COLUMNS})
    batch = data.process(0)
    assert batch.references == tuple(row["say"] for row in ROWS)
    assert "<|im_start|>user\nWhat is 3?<|im_end|>" in batch.prompts[3]
    assert "system" not in batch.prompts[3]


def test_an_instruction_for_all_rows_takes_the_place_of_a_column(tmp_path: Path):
    path = write(tmp_path / "rows.jsonl")
    data = loader(dataset={"name": str(path), **COLUMNS, "instruction": "Be brief."}, shuffle=False)
    assert "<|im_start|>system\nBe brief.<|im_end|>" in data.process(0).prompts[0]


def test_a_tokenizer_without_a_template_gets_plain_text_and_it_is_told(tmp_path: Path):
    write_tiny_model(tmp_path / "plain")
    (tmp_path / "plain" / "chat_template.jinja").unlink()
    stage = set_up(Finetune(model={"name": str(tmp_path / "plain")}))
    data = loader(stage, shuffle=False)
    row = tiny_rows()[0]
    asked = [row.instruction, row.input] if row.input else [row.instruction]
    batch = data.process(0)
    assert batch.prompts[0] == "\n\n".join(asked) + "\n\n"
    labels = batch.labels[0]
    assert stage.tokenizer.decode(labels[labels != IGNORED]) == f"{row.output}<|im_end|>"
    assert data.notes() == (
        "the tokenizer has no chat template: instruction, input and answer are separated by empty lines",
    )


def test_a_template_that_refuses_a_system_message_gets_it_with_the_question(tmp_path: Path):
    write_tiny_model(tmp_path / "strict")
    template = tmp_path / "strict" / "chat_template.jinja"
    template.write_text(
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no') }}{% endif %}" + template.read_text()
    )
    stage = set_up(Finetune(model={"name": str(tmp_path / "strict")}))
    row = next(row for row in tiny_rows() if row.input)
    at = tiny_rows().index(row)
    assert f"user\n{row.instruction}\n\n{row.input}<|im_end|>" in loader(stage, shuffle=False).process(at).prompts[0]


def test_a_model_by_its_folder_is_the_one_that_was_written(tmp_path: Path):
    write_tiny_model(tmp_path / "model", seed=3)
    stage = set_up(Inference(model={"name": str(tmp_path / "model")}, min_new_tokens=4))
    assert sum(p.numel() for p in stage.model.parameters()) == 112_448
    assert stage.tokenizer.get_vocab() == tiny_tokenizer().get_vocab()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"batch_size": 0}, "batch_size must be at least 1, not 0"),
        ({"max_length": 1}, "max_length must be at least 2 tokens, not 1"),
        ({"split": []}, "split: name at least one"),
        ({"split": ["trian"]}, "split: unknown split 'trian' of the tiny data set; did you mean 'train'?"),
        ({"dataset": {"nmae": "x"}}, "dataset: unknown key 'nmae'; did you mean 'name'?"),
    ],
)
def test_what_is_wrong_with_a_key_is_said_at_once(keys: dict[str, Any], message: str):
    with pytest.raises(ValueError) as caught:
        HuggingFaceDataLoader(**keys)
    assert str(caught.value).startswith(message)


def test_a_column_a_file_or_a_kind_of_file_that_is_not_there_is_named(tmp_path: Path):
    path = write(tmp_path / "rows.jsonl")
    with pytest.raises(DataError, match=r"unknown column 'instruction' \(known: ask, say\)"):
        loader(dataset={"name": str(path)})
    with pytest.raises(
        DataError, match=r"there is no data set at '.*gone\.jsonl': give a path that is there, or use `name: tiny`"
    ):
        loader(dataset={"name": str(tmp_path / "gone.jsonl")})
    (tmp_path / "rows.xml").write_text("<rows/>")
    with pytest.raises(DataError, match=r"unknown kind of file '\.xml'"):
        loader(dataset={"name": str(tmp_path / "rows.xml")})
    (tmp_path / "broken.jsonl").write_text("{not json")
    with pytest.raises(DataError, match=r"the data set '.*broken\.jsonl' cannot be loaded: "):
        loader(dataset={"name": str(tmp_path / "broken.jsonl")})
    with pytest.raises(DataError, match="unknown split 'test'"):
        loader(dataset={"name": str(write(tmp_path / "saved")), **COLUMNS}, split=["test"])


@pytest.mark.parametrize(
    ("make", "what", "download"),
    [
        (lambda: set_up(Inference(model={"name": "some/model"})), "model", "hf download some/model"),
        (lambda: set_up(Finetune(model={"name": "some/model"})), "model", "hf download some/model"),
        (lambda: loader(dataset={"name": "some/model"}), "data set", "hf download some/model --repo-type dataset"),
    ],
)
def test_without_a_network_one_message_says_what_to_do(
    make: Any, what: str, download: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    constants = library("huggingface_hub.constants", "llm")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError) as caught:
        make()
    assert str(caught.value) == (
        f"the {what} 'some/model' is not in {constants.HF_HUB_CACHE}, and the hub cannot be reached (HF_HUB_OFFLINE is "
        f"set). Where there is a network, run `{download}`; or give a folder as its name; or use `name: tiny`, which "
        "needs no download"
    )


def test_a_model_folder_that_is_not_there_or_not_one_is_named(tmp_path: Path):
    with pytest.raises(
        DataError, match=r"there is no model at '.*gone': give a path that is there, or use `name: tiny`"
    ):
        set_up(Inference(model={"name": str(tmp_path / "gone")}))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"the model '.*empty' cannot be loaded: "):
        set_up(Inference(model={"name": str(tmp_path / "empty")}))


@pytest.mark.parametrize(
    ("absent", "make"),
    [
        ("transformers", lambda: set_up(Inference())),
        ("peft", lambda: set_up(Finetune())),
        ("accelerate", lambda: set_up(Finetune(accelerator={"is_enabled": True}))),
        ("datasets", lambda: loader(dataset={"name": "some/rows"})),
        ("llguidance", lambda: set_up(Inference(data_model="utils.schemas.rag.Score"))),
    ],
)
def test_without_the_extra_one_message_has_the_install_command(absent: str, make: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(MissingExtra) as caught:
        make()
    assert str(caught.value) == f"{absent} is not installed. Install it with: pip install 'assay-bench[llm]'"


def test_a_stage_without_a_tokenizer_is_named():
    with pytest.raises(UsageError, match="tokenizer_stage_id: stage 1 is a MockDataLoader, which has no tokenizer"):
        loader(MockDataLoader())
