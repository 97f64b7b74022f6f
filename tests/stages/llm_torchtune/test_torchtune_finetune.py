"""Training with torchtune on the tiny model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop
from assay.loadgen.load_result import LoadResult
from assay.pipeline.stage import Worker
from assay.stages.llm_torchtune import Finetune, TorchTuneDataLoader
from assay.stages.llm_torchtune.data_loader import TuneBatch
from assay.stages.pytorch.device import library

COSINE = "get_cosine_schedule_with_warmup"


def trained(queries: int, **keys: Any) -> LoadResult:
    data = TorchTuneDataLoader(batch_size=8, loss_fn_stage_id=1)
    graph = Graph.build([Node(0, data, outputs=(1,)), Node(1, Finetune(**keys))], dataset=0)
    result = LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=queries), training=True).run()
    assert result.ending.success, result.ending
    return result


def figures(result: LoadResult) -> dict[str, Any]:
    return {metric.name: metric for metric in result.reports[1].metrics}


def stage(**keys: Any) -> Finetune:
    made = Finetune(**keys)
    made.setup(Worker(training=True))
    return made


def batches(size: int, count: int) -> list[TuneBatch]:
    data = TorchTuneDataLoader(batch_size=size, shuffle=False)
    data.setup(Worker(training=True))
    return [data.process(at) for at in range(count)]


def weights(made: Finetune) -> Any:
    torch = library("torch", "llm")
    return torch.cat([one.detach().flatten() for one in made.decoder.model.parameters() if one.requires_grad])


def test_the_loss_falls_over_thirty_steps() -> None:
    result = trained(30, optimizer={"component": "torch.optim.AdamW", "lr": 5e-3}, model={"apply_lora_to_mlp": True})
    found = figures(result)
    losses = found["loss"].samples
    assert len(losses) == 30
    assert sum(losses[-5:]) / 5 < sum(losses[:5]) / 5 - 0.3
    assert found["optimizer_steps"].value == 30
    assert found["tokens_per_s"].value > 0
    assert found["trained_tokens"].value > 0
    assert all(norm > 0 for norm in found["gradient_norm"].samples)
    assert {metric.name: metric.value for metric in result.reports[0].metrics} == {"rows": 240}


def test_four_batches_of_two_make_the_step_of_one_of_eight() -> None:
    keys: dict[str, Any] = {"optimizer": {"component": "torch.optim.SGD", "lr": 1.0}}
    small, [large] = batches(2, 4), batches(8, 1)
    # Were they alike in labels, a mean of means would pass too.
    assert len({int((one.labels[:, 1:] != -100).sum()) for one in small}) > 1
    once = stage(**keys)
    before = weights(once).clone()
    once.process(large)
    several = stage(**keys, gradient_accumulation_steps=4)
    steps = [several.process(one).stepped for one in small]
    assert steps == [False, False, False, True]
    moved = (weights(once) - before).abs().max()
    assert moved > 1e-3
    assert (weights(once) - weights(several)).abs().max() < 1e-6  # Both are float32.
    assert {m.name: m.value for m in several.measured()}["optimizer_steps"] == 1


def test_batches_that_made_no_step_are_told() -> None:
    made = stage(gradient_accumulation_steps=4)
    for one in batches(2, 2):
        made.process(one)
    assert made.notes() == [
        "the last 2 of its batches changed no weight: a step takes 4 of them (gradient_accumulation_steps)"
    ]


@pytest.mark.parametrize("place", ["torchtune.training", "torchtune.modules"])
def test_the_rate_goes_up_over_the_warm_up_and_then_falls_over_one_pass(place: str) -> None:
    schedule = {"component": f"{place}.{COSINE}", "num_warmup_steps": 2}
    made = stage(optimizer={"lr": 0.1}, lr_scheduler=schedule, gradient_accumulation_steps=2)
    made.expect_batches(12)  # Six steps.
    rates = []
    for one in batches(2, 12):
        if made.process(one).stepped:
            rates.append({m.name: m.value for m in made.measured()}["learning_rate"])
    assert rates == pytest.approx([0.05, 0.1, 0.0853553, 0.05, 0.0146447, 0.0], abs=1e-6)


def test_a_loss_in_pieces_is_the_same_loss() -> None:
    [batch] = batches(4, 1)
    pieces = stage(loss={"component": "torchtune.modules.loss.CEWithChunkedOutputLoss", "num_output_chunks": 4})
    assert pieces.process(batch).loss == pytest.approx(stage().process(batch).loss, rel=1e-5)


def test_left_to_the_data_only_the_split_train_is_trained_on() -> None:
    made = Finetune(optimizer={"lr": 0.01})
    made.setup(Worker(training=None))
    before = weights(made).clone()
    [batch] = batches(4, 1)
    judged = made.process(replace(batch, split="val"))
    assert not judged.stepped
    assert weights(made).equal(before)
    assert made.process(batch).loss == pytest.approx(judged.loss)
    assert not weights(made).equal(before)
    found = {metric.name: metric.value for metric in made.measured()}
    assert (found["optimizer_steps"], found["evaluation_loss"]) == (1, pytest.approx(judged.loss))


def test_without_adapters_all_weights_are_trained() -> None:
    sizes = {
        "vocab_size": 500, "num_layers": 1, "num_heads": 4, "num_kv_heads": 2, "embed_dim": 64,
        "intermediate_dim": 64, "max_seq_len": 256, "tie_word_embeddings": True,
    }  # fmt: skip
    made = stage(model={"component": "torchtune.models.qwen2.qwen2", **sizes}, optimizer={"lr": 1e-3})
    everything = sum(one.numel() for one in made.decoder.model.parameters())
    assert {m.name: m.value for m in made.measured()}["trained_parameters"] == everything
    assert made.notes() == ["without a checkpointer its weights are random numbers"]
    assert made.process(batches(2, 1)[0]).stepped


def test_a_device_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert stage(device="cuda").notes() == ["asked for cuda, which torch cannot use here: it ran on the CPU"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert stage(device="cuda").notes()[0].startswith("asked for cuda, but its process is shown no GPU (`device: cpu`")


def test_half_precision_is_that_of_the_weights() -> None:
    made = stage(dtype="torch.bfloat16")
    assert {str(one.dtype) for one in made.decoder.model.parameters()} == {"torch.bfloat16"}
    assert made.process(batches(2, 1)[0]).loss > 0
