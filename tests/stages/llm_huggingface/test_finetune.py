from __future__ import annotations

from typing import Any

import pytest
from llm_runs import figures, loader, run, set_up

from assay.errors import UsageError
from assay.loadgen import Node
from assay.stages.llm_huggingface import Finetune, HuggingFaceDataLoader
from assay.stages.llm_huggingface.finetune import Name
from assay.stages.pytorch.device import library
from assay.stages.pytorch.prompt_batch import PromptBatch
from assay.stages.pytorch.training import TrainStep

FAST = {"name": "AdamW", "lr": 1e-2, "weight_decay": 0.0}


def trained(stage: Finetune) -> list[Any]:
    return [p.detach().clone() for p in stage.model.parameters() if p.requires_grad]


def apart(left: list[Any], right: list[Any]) -> float:
    return max(float((a - b).abs().max()) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize(("rank", "accelerate", "share"), [(8, False, 0.93), (8, True, 0.93), (0, False, 0.65)])
def test_the_loss_falls_over_thirty_steps_and_all_that_was_measured_is_told(rank: int, accelerate: bool, share: float):
    """Adapters around weights that know nothing learn less than the weights themselves."""
    data = HuggingFaceDataLoader(batch_size=8, tokenizer_stage_id=1, accelerator_stage_id=1)
    stage = Finetune(model={"lora_rank": rank}, optimizer=FAST, accelerator={"is_enabled": accelerate})
    result = run(Node(0, data, outputs=(1,)), Node(1, stage), queries=30)
    found = figures(result, 1)
    assert result.completed == found["optimizer_steps"] == 30
    series = {metric.name: metric.samples for metric in result.reports[1].metrics}
    assert sum(series["loss"][-5:]) / 5 < share * found["loss_first"]
    assert found["loss"] == series["loss"][-1]
    assert len(series["loss"]) == len(series["gradient_norm"]) == len(series["step_s"]) == 30
    assert series["loss"][0] == found["loss_first"]
    assert min(series["gradient_norm"]) > 0
    assert found["tokens_per_s"] > 0
    assert found["trained_parameters"] == (17_152 if rank else 112_448)
    assert figures(result, 0) == {"rows": 240, "rows_cut": 0}
    assert result.warnings == []


@pytest.mark.parametrize(("accelerate", "rank"), [(False, 0), (False, 8), (True, 8)])
def test_four_batches_of_two_change_the_weights_as_one_batch_of_eight_does(accelerate: bool, rank: int):
    """Rows differ in how many label tokens they have, so a mean of the four means would not do.

    Plain gradient descent, so that what is compared is the gradient itself. Float32 sums in another order differ by
    about 1e-7 of the largest; the tolerance is 1e-6 on steps of 0.01 to 1.
    """
    made = {"optimizer": {"name": "SGD", "lr": 1.0}, "accelerator": {"is_enabled": accelerate}}
    model = {"lora_rank": rank}
    whole = set_up(Finetune(model=model, **made))
    parts = set_up(Finetune(model=model, gradient_accumulation_steps=4, **made))
    before = trained(whole)
    assert apart(before, trained(parts)) == 0
    assert whole.process(loader(whole, batch_size=8).process(0)).stepped
    small = loader(parts, batch_size=2)
    batches = [small.process(n) for n in range(4)]
    assert len({batch.label_tokens for batch in batches}) > 1
    assert [parts.process(batch).stepped for batch in batches] == [False, False, False, True]
    assert apart(before, trained(whole)) > 0.01
    assert apart(trained(whole), trained(parts)) < 1e-6


def test_a_mean_of_means_would_have_been_seen():
    """The test above can fail: normalised batch by batch, the same four batches lead elsewhere."""
    made = {"optimizer": {"name": "SGD", "lr": 1.0}, "model": {"lora_rank": 0}}
    whole, wrong = set_up(Finetune(**made)), set_up(Finetune(**made))
    whole.process(loader(whole, batch_size=8).process(0))
    before = trained(wrong)
    small = loader(wrong, batch_size=2)
    total = [0.0] * len(before)
    for n in range(4):
        fresh = set_up(Finetune(**made))
        fresh.process(small.process(n))
        total = [t + (a - b) / 4 for t, a, b in zip(total, trained(fresh), before, strict=True)]
    assert apart(trained(whole), [b + t for b, t in zip(before, total, strict=True)]) > 1e-4


def test_the_optimiser_steps_once_every_n_batches_and_what_is_left_over_is_said():
    stage = Finetune(optimizer=FAST, gradient_accumulation_steps=4)
    data = HuggingFaceDataLoader(batch_size=2, tokenizer_stage_id=1)
    steps: list[TrainStep] = []
    # The warm-up leaves three batches half way: the measured part begins with a step of its own.
    result = run(Node(0, data, outputs=(1,)), Node(1, stage), queries=10, warmup=3, keep=steps)
    assert [step.stepped for step in steps[-10:]] == [False, False, False, True] * 2 + [False, False]
    found = figures(result, 1)
    assert (found["optimizer_steps"], found["batches_without_step"]) == (2, 2)
    said = "the last 2 of its batches changed no weight: a step takes 4 of them (gradient_accumulation_steps)"
    assert result.warnings == [f"stage 1 (finetune): {said}"]


def test_weights_move_only_when_a_step_is_taken_and_never_at_set_up():
    stage, other = (set_up(Finetune(optimizer=FAST, gradient_accumulation_steps=2, seed=5)) for _ in range(2))
    assert apart(trained(stage), trained(other)) == 0
    data = loader(stage, batch_size=2)
    before = trained(stage)
    stage.process(data.process(0))
    assert apart(before, trained(stage)) == 0
    stage.process(data.process(1))
    assert apart(before, trained(stage)) > 0


def test_a_warm_up_and_a_cosine_are_followed_over_one_pass_of_the_data():
    stage = set_up(Finetune(optimizer={"lr": 1.0}, lr_scheduler={"name": "cosine", "num_warmup_steps": 2}))
    data = loader(stage, batch_size=64)  # Eight batches a pass.
    small = loader(stage, batch_size=1).process(0)
    stage.expect_batches(len(data))
    rates = []
    for _ in range(8):
        stage.process(small)
        rates.append(stage._trainer.optimizer.param_groups[0]["lr"])
    assert rates[:2] == [0.5, 1.0]
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert rates[-1] == pytest.approx(0.0)


def test_every_schedule_that_is_offered_is_one_of_transformers():
    theirs = {str(each.value) for each in library("transformers", "llm").SchedulerType}
    assert set(Name.__args__) <= theirs  # type: ignore[attr-defined]


def test_batches_of_another_split_are_judged_and_change_nothing():
    stage = set_up(Finetune(optimizer=FAST))
    before = trained(stage)
    data = loader(stage, batch_size=8, split=["validation"])
    step = stage.process(data.process(0))
    assert not step.stepped
    assert apart(before, trained(stage)) == 0
    found = {metric.name: metric.value for metric in stage.measured()}
    assert found["evaluation_loss"] == pytest.approx(step.loss)
    assert found["optimizer_steps"] == 0


@pytest.mark.parametrize(("training", "steps"), [(True, True), (False, False)])
def test_is_training_decides_where_it_is_given(training: bool, steps: bool):
    stage = set_up(Finetune(optimizer=FAST), training=training)
    split = ["validation"] if training else ["train"]
    assert stage.process(loader(stage, batch_size=2, split=split).process(0)).stepped is steps


def test_dropout_is_the_seeds():
    model = {"lora_dropout": 0.5}
    losses = []
    for seed in (1, 1, 2):
        stage = set_up(Finetune(model=model, optimizer=FAST, seed=seed))
        data = loader(stage, batch_size=4)
        losses.append([stage.process(data.process(n)).loss for n in range(3)])
    assert losses[0] == losses[1] != losses[2]


def test_half_numbers_train_too():
    stage = set_up(Finetune(dtype="torch.bfloat16", device="cuda", optimizer=FAST, max_grad_norm=1.0))
    assert stage.model.get_base_model().dtype == library("torch", "llm").bfloat16
    data = loader(stage, batch_size=8)
    losses = [stage.process(data.process(n)).loss for n in range(12)]
    assert losses[-1] < losses[0]
    assert stage.notes() == ["asked for cuda, which torch cannot use here: it ran on the CPU"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"model": {"nam": "tiny"}}, "model: unknown key 'nam'; did you mean 'name'?"),
        (
            {"model": {"quantize": True}},
            "model.quantize needs an NVIDIA GPU, and this machine has none: set it to false",
        ),
        (
            {"model": {"quantize": True}, "device": "cpu"},
            "model.quantize works on an NVIDIA GPU only, not on device 'cpu': set it to false",
        ),
        ({"dtype": "torch.bfloat61"}, "dtype: unknown number type 'bfloat61'; did you mean 'bfloat16'?"),
        ({"gradient_accumulation_steps": 0}, "gradient_accumulation_steps must be at least 1, not 0"),
        ({"max_grad_norm": 0}, "max_grad_norm must be greater than 0, not 0"),
        ({"lr_scheduler": {"name": "cosin"}}, "lr_scheduler.name: Input should be "),
        ({"accelerator": {"enabled": True}}, "accelerator: unknown key 'enabled'; did you mean 'is_enabled'?"),
        (
            {"optimizer": {"name": "AdamW", "component": "torch.optim.SGD"}},
            "optimizer: give component or name, not both",
        ),
        ({"optimizer": "AdamW"}, "optimizer must be a block of keys, not 'AdamW'"),
    ],
)
def test_what_is_wrong_with_a_key_is_said_without_importing_anything(keys: dict[str, Any], message: str):
    with pytest.raises(ValueError) as caught:
        Finetune(**keys)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"optimizer": {"name": "adamv"}}, "optimizer: unknown optimizer 'adamv'; did you mean 'Adam"),
        ({"optimizer": {"component": "torch.optim.Nothing"}}, "optimizer: nothing is at 'torch.optim.Nothing'"),
        ({"optimizer": {"lr": -1}}, "optimizer: Invalid learning rate: -1"),
        ({"optimizer": {"momentumm": 1}}, "optimizer: AdamW.__init__() got an unexpected keyword argument 'momentumm'"),
        ({"model": {"lora_attn_modules": ["nope"]}}, "model.lora_attn_modules: Target modules "),
    ],
)
def test_what_only_the_libraries_know_is_said_at_set_up(keys: dict[str, Any], message: str):
    with pytest.raises(UsageError) as caught:
        set_up(Finetune(**keys))
    assert str(caught.value).startswith(message)


def test_a_schedule_that_cannot_know_its_length_says_so():
    stage = set_up(Finetune(lr_scheduler={"name": "linear"}))
    batch = loader(stage, batch_size=2).process(0)
    stage._trainer.batches_a_pass = None
    with pytest.raises(UsageError, match="lr_scheduler: linear must know how long the training is: give num_training"):
        stage.process(batch)


def test_prompts_without_labels_are_refused_with_what_to_do():
    stage = set_up(Finetune())
    with pytest.raises(
        UsageError, match="Finetune was given a PromptBatch without labels: put a HuggingFaceDataLoader"
    ):
        stage.process(PromptBatch(("a",)))
