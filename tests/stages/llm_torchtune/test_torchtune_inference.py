"""Generation with torchtune on the tiny model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop
from assay.pipeline.stage import Worker
from assay.stages.llm_torchtune import Finetune, Inference, TorchTuneDataLoader
from assay.stages.llm_torchtune.data_loader import prompts
from assay.stages.llm_torchtune.inference import TokenSampling, token_steps
from assay.stages.pytorch.device import library
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch
from assay.stages.pytorch.tiny_model import tiny_language_model, tiny_tokenizer

ASKED = "<|im_start|>user\nWhat is 3 plus 4?<|im_end|>\n<|im_start|>assistant\n"
SHORTER = "<|im_start|>user\nSpell the word river.<|im_end|>\n<|im_start|>assistant\n"


def stage(**keys: Any) -> Inference:
    made = Inference(**keys)
    made.setup(Worker())
    return made


def answered(made: Inference, *texts: str) -> AnswerBatch:
    return made.collected(list(made.process(PromptBatch(texts, context="kept"))))


def tokens(made: Inference, *texts: str) -> list[tuple[int | None, ...]]:
    return [step.tokens for step in made.process(PromptBatch(texts))]


def checkpointer(folder: Path, place: str = "torchtune.utils") -> dict[str, Any]:
    return {
        "component": f"{place}.FullModelHFCheckpointer",
        "checkpoint_dir": str(folder),
        "checkpoint_files": ["model.safetensors"],
        "output_dir": str(folder.parent / "out"),
        "model_type": "QWEN2",
    }


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("place", ["torchtune.utils", "torchtune.training"])
def test_a_checkpoint_folder_gives_the_tokens_that_transformers_gives(
    model_folder: Path, cached: bool, place: str
) -> None:
    torch = library("torch", "llm")
    loader = TorchTuneDataLoader(
        tokenizer={
            "component": "torchtune.models.qwen2.qwen2_tokenizer",
            "path": str(model_folder / "vocab.json"),
            "merges_file": str(model_folder / "merges.txt"),
            "special_tokens_path": str(model_folder / "tokenizer.json"),
        }
    )
    loader.setup(Worker())
    made = Inference(
        model={"KV_cache": cached}, checkpointer=checkpointer(model_folder, place), tokenizer_stage_id=0,
        batch_size_stage_id=0, max_new_tokens=12, min_new_tokens=12,
    )  # fmt: skip
    made.link({0: loader})
    made.setup(Worker())
    given = tiny_tokenizer()([ASKED], return_tensors="pt")
    with torch.no_grad():
        expected = tiny_language_model(seed=3).generate(
            **given, max_new_tokens=12, min_new_tokens=12, do_sample=False, pad_token_id=497
        )
    assert [step[0] for step in tokens(made, ASKED)] == expected[0, given.input_ids.shape[1] :].tolist()


def test_answers_come_token_by_token_and_are_the_same_with_and_without_a_cache() -> None:
    plain, cached = (
        stage(model={"KV_cache": kept}, temperature=0.9, max_new_tokens=8, min_new_tokens=8) for kept in (False, True)
    )
    steps = tokens(plain, ASKED, SHORTER)
    assert len(steps) == 8
    assert all(len(step) == 2 for step in steps)
    assert tokens(cached, ASKED, SHORTER) == steps
    # The cache of one batch is not seen by the next, which may have another size.
    plain.start_measuring()
    cached.start_measuring()
    assert tokens(cached, SHORTER) == tokens(plain, SHORTER)


def test_an_answer_does_not_depend_on_what_it_is_padded_beside() -> None:
    made = stage(max_new_tokens=6, min_new_tokens=6, model={"KV_cache": True})
    beside = tokens(made, SHORTER, ASKED)
    assert [step[0] for step in beside] == [step[0] for step in tokens(made, SHORTER)]
    assert [step[1] for step in beside] == [step[0] for step in tokens(made, ASKED)]


def test_drawn_tokens_are_those_of_the_seed() -> None:
    one, same, other = (stage(temperature=1.0, max_new_tokens=8, min_new_tokens=8, seed=seed) for seed in (1, 1, 2))
    drawn = tokens(one, ASKED)
    assert tokens(same, ASKED) == drawn
    assert tokens(other, ASKED) != drawn
    # The warm-up draws too; what is measured begins at the seed all the same.
    one.start_measuring()
    assert tokens(one, ASKED) == drawn


def test_the_likeliest_token_is_taken_at_temperature_zero_and_is_the_only_one_of_top_one() -> None:
    greedy = stage(max_new_tokens=6, min_new_tokens=6)
    assert tokens(greedy, ASKED) == tokens(greedy, ASKED)
    only = stage(temperature=2.0, top_k=1, max_new_tokens=6, min_new_tokens=6)
    assert tokens(only, ASKED) == tokens(greedy, ASKED)


def test_an_answer_ends_with_a_token_that_ends_it_but_not_before_its_least_length() -> None:
    made = stage(temperature=0.9, max_new_tokens=8, min_new_tokens=8)
    batch = prompts([made.tokenizer.encode(text, add_bos=False, add_eos=False) for text in (ASKED, SHORTER)], "", 497)
    torch = library("torch", "llm")

    def steps(sampling: TokenSampling, stop: list[int]) -> list[tuple[int | None, ...]]:
        return list(token_steps(made.decoder, batch, stop, sampling, True, torch.Generator().manual_seed(0)))

    free = steps(TokenSampling(0.9, None, 8), [])
    first, second = free[2][0], free[4][1]
    assert first is not None
    assert second is not None
    ended = steps(TokenSampling(0.9, None, 8), [first, second])
    assert len(ended) == 5
    assert [step[0] for step in ended][3:] == [None, None]
    held = steps(TokenSampling(0.9, None, 8, least=8), [first, second])
    assert len(held) == 8
    assert not {first, second} & {token for step in held for token in step}


def test_the_answer_has_text_counts_and_what_was_passed_along() -> None:
    made = stage(temperature=0.9, max_new_tokens=4, min_new_tokens=4)
    found = answered(made, ASKED, SHORTER)
    lengths = tuple(len(tiny_tokenizer()(text).input_ids) for text in (ASKED, SHORTER))
    assert (found.prompt_tokens, found.answer_tokens, found.context) == (lengths, (4, 4), "kept")
    assert all(found.texts)
    figures = {metric.name: metric.value for metric in made.measured()}
    assert (figures["prompt_tokens"], figures["answer_tokens"]) == (sum(lengths), 8)
    assert figures["tokens_per_s"] > 0


def test_the_driver_times_the_first_token_and_the_gaps() -> None:
    data = TorchTuneDataLoader(batch_size=2, split=["val"])
    made = Inference(tokenizer_stage_id=0, max_new_tokens=5, min_new_tokens=5)
    graph = Graph.build([Node(0, data, outputs=(1,)), Node(1, made)], dataset=0)
    result = LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=3)).run()
    assert result.ending.success, result.ending
    assert set(result.measured.rows[result.measured.rows["stage"] == 1]["items"]) == {5}
    assert result.first_result is not None
    assert result.per_item is not None


def test_a_model_that_another_stage_trains_is_one_object_and_answers_with_what_it_has_learnt() -> None:
    data = TorchTuneDataLoader(batch_size=8, loss_fn_stage_id=1)
    tune = Finetune(optimizer={"lr": 0.05}, model={"apply_lora_to_mlp": True})
    made = Inference(
        depends_on_id=1, tokenizer_stage_id=0, max_new_tokens=6, min_new_tokens=6, model={"KV_cache": True}
    )
    tune.setup(Worker(training=True))
    data.link({1: tune})
    data.setup(Worker(training=True))
    made.link({0: data, 1: tune})
    made.setup(Worker(training=True))
    assert made.decoder is tune.decoder
    before = tokens(made, ASKED)
    losses = [tune.process(data.process(at)).loss for at in range(12)]
    assert losses[-1] < losses[0]
    assert tokens(made, ASKED) != before
    assert made.uses == (0, 1)
