"""Batches for torchtune: what is a prompt, what is learnt, and where rows come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.pipeline.stage import Worker
from assay.stages.llm_torchtune import Finetune, TorchTuneDataLoader


def loader(training: bool | None = None, **keys: Any) -> TorchTuneDataLoader:
    made = TorchTuneDataLoader(**keys)
    made.setup(Worker(training=training))
    return made


def text(made: TorchTuneDataLoader, tokens: Any) -> str:
    return str(made.tokenizer.decode([int(token) for token in tokens if token >= 0], skip_special_tokens=True))


def texts(made: TorchTuneDataLoader, *batches: int) -> list[str]:
    return [text(made, row) for at in batches for row in made.process(at).tokens]


def test_answers_are_learnt_and_prompts_are_not() -> None:
    made = loader(training=True, batch_size=2)
    batch = made.process(0)
    assert batch.tokens.shape == batch.labels.shape
    learnt = text(made, batch.labels[0])
    assert learnt.startswith("assistant\n")
    assert text(made, batch.tokens[0]).endswith(learnt)


def test_prompts_end_where_an_answer_begins_and_are_padded_on_the_left() -> None:
    made = loader(batch_size=3, split=["val"])
    batch = made.process(0)
    assert batch.labels is None
    assert len(set(batch.lengths)) > 1
    for row, length in zip(batch.tokens, batch.lengths, strict=True):
        assert text(made, row).endswith("assistant\n")
        assert row[: len(row) - length].tolist() == [made.tokenizer.pad_id] * (len(row) - length)


def test_splits_are_the_same_at_every_run_and_share_no_row() -> None:
    train, val, both = (loader(split=split, batch_size=51) for split in (["train"], ["val"], ["train", "val"]))
    assert (len(train), len(val), len(both)) == (8, 2, 10)
    assert texts(both, 7, 8) == texts(train, 7) + texts(val, 0)
    again = loader(split=["val"], batch_size=51, shuffle=False)
    assert sorted(texts(again, 0, 1)) == sorted(texts(val, 0, 1)) != texts(val, 0, 1)


def test_a_loss_may_have_another_number_for_what_is_not_learnt() -> None:
    tune = Finetune(loss={"component": "torch.nn.CrossEntropyLoss", "ignore_index": -7})
    tune.setup(Worker())
    made = TorchTuneDataLoader(batch_size=2, loss_fn_stage_id=1)
    made.link({1: tune})
    made.setup(Worker())
    batch = made.process(0)
    assert int(batch.labels.min()) == -7
    assert tune.process(batch).stepped


def test_for_a_stage_that_learns_there_are_labels_though_the_load_only_judges() -> None:
    tune = Finetune()
    tune.setup(Worker(training=False))
    made = TorchTuneDataLoader(batch_size=2, loss_fn_stage_id=1)
    made.link({1: tune})
    made.setup(Worker(training=False))
    assert not tune.process(made.process(0)).stepped


@pytest.fixture
def alpaca(tmp_path: Path) -> dict[str, Any]:
    written = [
        {"instruction": f"Count to {n}.", "input": "", "output": " ".join(map(str, range(n)))} for n in range(10)
    ]
    (tmp_path / "rows.json").write_text("\n".join(map(json.dumps, written)))
    return {
        "component": "torchtune.datasets.alpaca_cleaned_dataset",
        "source": "json",
        "data_files": str(tmp_path / "rows.json"),
        "cache_dir": str(tmp_path / "cache"),
    }


def test_a_data_set_of_torchtune_reads_a_file(alpaca: dict[str, Any]) -> None:
    made = loader(training=True, dataset=alpaca, batch_size=2)
    assert len(made) == 4
    batch = made.process(0)
    # This one learns prompts too, unless it is told otherwise.
    assert "### Instruction:" in text(made, batch.labels[0])
    prompts = loader(dataset=alpaca, split=["val"])
    assert len(prompts) == 2
    assert text(prompts, prompts.process(0).tokens[0]).endswith("### Response:\n\nassistant\n")
    assert prompts.notes() == ()


def test_rows_that_do_not_tell_prompt_from_answer_are_the_prompts_and_it_is_said(alpaca: dict[str, Any]) -> None:
    made = loader(dataset={**alpaca, "train_on_input": True}, split=["val"])
    made.process(0)
    assert made.notes() == ("this data set does not say where its answers begin: whole rows were the prompts",)


def test_packed_rows_have_a_mask_and_places(alpaca: dict[str, Any]) -> None:
    from assay.stages.llm_torchtune.checkpoint import tiny_folder

    folder = tiny_folder()
    tokenizer = {
        "component": "torchtune.models.qwen2.qwen2_tokenizer",
        "path": str(folder / "vocab.json"),
        "merges_file": str(folder / "merges.txt"),
        "special_tokens_path": str(folder / "tokenizer.json"),
        "max_seq_len": 400,
    }
    made = loader(training=True, dataset={**alpaca, "packed": True}, tokenizer=tokenizer)
    batch = made.process(0)
    assert batch.tokens.shape == (1, 400)
    assert batch.mask is not None
    tune = Finetune()
    tune.setup(Worker())
    assert tune.process(batch).loss > 0
