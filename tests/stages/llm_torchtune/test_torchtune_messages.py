"""What a person is told of what is wrong, in the words of the configuration."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError, MissingExtra
from assay.pipeline.stage import Worker
from assay.stages.llm_torchtune import Finetune, Inference, TorchTuneDataLoader
from assay.stages.llm_torchtune.data_loader import prompts
from assay.stages.pytorch.device import library
from assay.stages.pytorch.prompt_batch import PromptBatch
from assay.stages.synthetic import NoOp

WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: TorchTuneDataLoader(batch_size=0), "batch_size must be at least 1, not 0"),
    (lambda: TorchTuneDataLoader(split=["trian"]), "split: unknown split 'trian'; did you mean 'train'?"),
    (lambda: TorchTuneDataLoader(split=[]), "split names none; give train, val or both"),
    (lambda: TorchTuneDataLoader(dataset={"source": "json"}), "dataset.component is missing"),
    (lambda: Finetune(gradient_accumulation_steps=0), "gradient_accumulation_steps must be at least 1, not 0"),
    (lambda: Finetune(dtype="torch.float23"), "dtype: unknown number type 'float23'; did you mean 'float32'?"),
    (lambda: Finetune(checkpointer={"model_type": "QWEN2"}), "checkpointer.checkpoint_dir is missing"),
    (lambda: Finetune(loss={"component": 3}), "loss.component: "),
    (lambda: Inference(temperature=-1), "temperature must not be below 0, not -1"),
    (lambda: Inference(top_k=0), "top_k must be at least 1, not 0"),
    (lambda: Inference(max_new_tokens=0), "max_new_tokens must be at least 1, not 0"),
    (lambda: Inference(min_new_tokens=40), "min_new_tokens must be from 0 to max_new_tokens (32), not 40"),
    (lambda: Inference(model={"KV_cache": "much"}), "model.KV_cache: "),
    (lambda: Inference(depends_on_id=1, model={"component": "x.y"}), "depends_on_id takes the model of another stage"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_a_wrong_value_is_refused_when_the_file_is_read(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value).startswith(message)


LORA = "torchtune.models.qwen2_5.lora_qwen2_5_0_5b"
AT_SET_UP: list[tuple[Callable[[Path], Any], str]] = [
    (
        lambda folder: TorchTuneDataLoader(tokenizer={"path": str(folder / "no.json")}),
        "tokenizer.path: there is no file {folder}/no.json: download the model's folder (`hf download OWNER/NAME ",
    ),
    (
        lambda folder: TorchTuneDataLoader(
            tokenizer={
                "path": str(folder / "vocab.json"),
                "merges_file": str(folder / "merges.txt"),
                "special_tokens_path": str(folder / "tokenizer.json"),
            }
        ),
        "tokenizer: torchtune.models.qwen2_5.qwen2_5_tokenizer wants the token '<tool_call>', which its files do not",
    ),
    (
        lambda folder: TorchTuneDataLoader(dataset={"component": "torchtune.datasets.alpaca"}),
        "dataset.component: nothing is at 'torchtune.datasets.alpaca'",
    ),
    (
        lambda folder: TorchTuneDataLoader(
            dataset={
                "component": "torchtune.datasets.alpaca_dataset",
                "source": "json",
                "data_files": str(folder / "rows.json"),
            }
        ),
        "dataset.data_files: there is no file {folder}/rows.json",
    ),
    (lambda folder: TorchTuneDataLoader(batch_size=600), "the data set has 512 rows: too few for one batch of 600 of"),
    (
        lambda folder: Finetune(checkpointer={"checkpoint_dir": str(folder / "nowhere")}),
        "checkpointer.checkpoint_dir: there is no folder {folder}/nowhere: download it (`hf download OWNER/NAME",
    ),
    (
        lambda folder: Finetune(model={"component": LORA}, checkpointer={"checkpoint_dir": str(folder / "nowhere")}),
        "checkpointer.checkpoint_dir: there is no folder {folder}/nowhere: download it (`hf download OWNER/NAME",
    ),
    (
        lambda folder: Finetune(checkpointer={"checkpoint_dir": str(folder), "checkpoint_files": ["a.safetensors"]}),
        "checkpointer: {folder} has no a.safetensors",
    ),
    (
        lambda folder: Finetune(checkpointer={"checkpoint_dir": str(folder), "model_type": "QWEN"}),
        "checkpointer.model_type: unknown family 'QWEN'; did you mean 'QWEN2'?",
    ),
    (
        lambda folder: Finetune(checkpointer={"checkpoint_dir": str(folder)}, model={"num_layers": 3}),
        "the checkpoint does not fit the model: it lacks 12 weights, such as layers.2.attn.q_proj.weight",
    ),
    (
        lambda folder: Finetune(checkpointer={"checkpoint_dir": str(folder)}, model={"embed_dim": 32}),
        "the checkpoint does not fit the model: Error(s) in loading state_dict",
    ),
    (
        lambda folder: Finetune(model={"lora_rnk": 4}),
        "model: unknown key 'lora_rnk' of torchtune.models.qwen2.lora_qwen2",
    ),
    (lambda folder: Finetune(model={"component": "torchtune.models.qwen3.x"}), "model.component: nothing is at"),
    (lambda folder: Finetune(optimizer={"lr": -1}), "optimizer: Invalid learning rate: -1"),
    (
        lambda folder: Finetune(loss={"component": "torch.nn.CrossEntropyLoss", "reduction": "sum"}),
        "loss.reduction must be mean, not sum",
    ),
    (
        lambda folder: Finetune(lr_scheduler={"component": "torch.optim.lr_scheduler.StepLR", "size": 3}),
        "lr_scheduler: unknown key 'size' of torch.optim.lr_scheduler.StepLR",
    ),
    (
        lambda folder: Inference(checkpointer={"checkpoint_dir": str(folder)}),
        "tokenizer_stage_id is missing: name the stage whose tokenizer belongs to the model",
    ),
    (lambda folder: Finetune(device="tpu"), "device 'tpu' is not known; use cpu, cuda, cuda:N or mps"),
]


@pytest.mark.parametrize(("make", "message"), AT_SET_UP, ids=[message[:50] for _, message in AT_SET_UP])
def test_what_only_the_machine_knows_is_told_at_set_up(
    model_folder: Path, make: Callable[[Path], Any], message: str
) -> None:
    with pytest.raises((AssayError, ValueError)) as caught:
        make(model_folder).setup(Worker(training=True))
    assert str(caught.value).startswith(message.format(folder=model_folder)), caught.value


def test_tokens_that_the_model_does_not_have_are_told_before_they_are_used(model_folder: Path) -> None:
    files = {"path": str(model_folder / "vocab.json"), "merges_file": str(model_folder / "merges.txt")}
    data = TorchTuneDataLoader(tokenizer=files)
    data.setup(Worker(training=True))
    made = Inference(tokenizer_stage_id=0, checkpointer={"checkpoint_dir": str(model_folder)})
    made.link({0: data})
    with pytest.raises(AssayError) as caught:
        made.setup(Worker())
    assert str(caught.value).startswith("the tokenizer has the token 151664, the model only 500 of them")
    assert "tokenizer.special_tokens_path" in str(caught.value)


@pytest.mark.parametrize("key", ["tokenizer_stage_id", "batch_size_stage_id", "depends_on_id"])
def test_a_stage_that_lacks_what_is_wanted_of_it_is_named(key: str) -> None:
    made = Inference(**{"tokenizer_stage_id": None, key: 4})
    made.link({4: NoOp()})
    with pytest.raises(AssayError, match=rf"^{key}: stage 4 has no \w+; name a stage of llm_torchtune that has"):
        made.setup(Worker())


def test_a_stage_without_a_loss_is_named() -> None:
    with pytest.raises(AssayError, match=r"^loss_fn_stage_id: stage 4 has no loss; name a llm_torchtune.Finetune"):
        TorchTuneDataLoader(loss_fn_stage_id=4).link({4: NoOp()})


def test_a_schedule_that_must_know_the_length_of_the_training_says_so() -> None:
    made = Finetune(lr_scheduler={"num_warmup_steps": 1})
    made.setup(Worker(training=True))
    data = TorchTuneDataLoader()
    data.setup(Worker(training=True))
    with pytest.raises(
        AssayError, match=r"^lr_scheduler: it must know how long the training is: give num_training_steps"
    ):
        made.process(data.process(0))


def test_prompts_cannot_be_trained_on() -> None:
    made = Finetune()
    made.setup(Worker(training=True))
    with pytest.raises(AssayError, match=r"^Finetune was given a TuneBatch without labels: put a TorchTuneDataLoader"):
        made.process(prompts([[1, 2]], "train", 0))


def test_a_prompt_that_leaves_no_room_for_its_answer_is_refused() -> None:
    made = Inference(max_new_tokens=4090)
    made.setup(Worker())
    with pytest.raises(AssayError, match=r"^a prompt of 10 tokens and 4090 new ones \(max_new_tokens\) are more than"):
        list(made.process(PromptBatch(("a" * 10,))))


@pytest.mark.parametrize("gone", ["torchtune", "torchao"])
def test_without_the_extra_one_message_says_how_to_get_it(gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, gone, None)
    for made in (TorchTuneDataLoader(), Finetune(), Inference()):
        with pytest.raises(MissingExtra) as caught:
            made.setup(Worker())
        assert str(caught.value) == f"{gone} is not installed. Install it with: pip install 'assay-bench[torchtune]'"


def test_a_data_set_that_cannot_be_downloaded_is_told_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    constants = library("huggingface_hub.constants", "llm")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(AssayError) as caught:
        TorchTuneDataLoader(dataset={"component": "torchtune.datasets.alpaca_cleaned_dataset"}).setup(Worker())
    said = str(caught.value)
    assert said.startswith(f"the data set 'yahma/alpaca-cleaned' is not in {tmp_path}, and the hub cannot be reached")
    assert "HF_HUB_OFFLINE is set" in said
    assert said.endswith("or leave `dataset` out for the one that is made here")
