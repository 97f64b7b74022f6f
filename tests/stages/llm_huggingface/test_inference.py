from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llm_runs import figures, loader, run, set_up

from assay.errors import UsageError
from assay.loadgen import Graph, LoadGen, Node, SingleStreamLoadScheduler, Stop
from assay.loadgen.trace_file import read_rows
from assay.stages.llm_huggingface import Finetune, HuggingFaceDataLoader, Inference, MockDataLoader
from assay.stages.llm_huggingface.generation import AnswerLengths
from assay.stages.pytorch.device import library
from assay.stages.pytorch.prompt_batch import AnswerBatch, PromptBatch
from assay.stages.pytorch.tiny_model import VOCABULARY

ASKED = PromptBatch(
    ("Which day comes after Friday?", "Spell river.", "Add 3 and 4, please, and say no more."), ("kept",)
)


def answers(stage: Inference, batch: Any = ASKED) -> AnswerBatch:
    return stage.collected(list(stage.process(batch)))


def tokens(stage: Inference, batch: Any = ASKED) -> list[list[int]]:
    *_, last = stage.process(batch)
    return last.generation.answers


def test_greedy_answers_are_those_of_transformers_own_loop():
    """Prompts of several lengths: padding, positions and the cache must all be right."""
    stage = set_up(Inference(max_new_tokens=12, min_new_tokens=12))
    lm = stage.language_model
    encoded = lm.tokenizer(list(ASKED.prompts), padding=True, padding_side="left", return_tensors="pt")
    whole = lm.model.generate(**encoded, max_new_tokens=12, min_new_tokens=12, do_sample=False)
    assert tokens(stage) == whole[:, encoded.input_ids.shape[1] :].tolist()
    for n, prompt in enumerate(ASKED.prompts):
        assert tokens(stage, PromptBatch((prompt,)))[0] == tokens(stage)[n], "an answer depends on its neighbours"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_same_seed_gives_the_same_answers_whatever_came_before(temperature: float):
    one, two, other = (
        set_up(Inference(model={"temperature": temperature}, min_new_tokens=10, seed=seed)) for seed in (3, 3, 4)
    )
    answers(two, PromptBatch(("something else",)))
    library("torch", "llm").manual_seed(99)
    assert tokens(one) == tokens(two)
    assert tokens(one) == tokens(one)
    assert (tokens(one) == tokens(other)) is (temperature == 0)


def test_context_and_counts_come_back_with_the_answers():
    stage = set_up(Inference(min_new_tokens=5))
    answer = answers(stage)
    assert answer.context == ("kept",)
    assert answer.answer_tokens == (5, 5, 5)
    assert answer.prompt_tokens == tuple(len(stage.tokenizer(prompt).input_ids) for prompt in ASKED.prompts)
    assert len(answer.texts) == 3
    assert answer.parsed == ()


def test_the_driver_times_the_first_token_and_the_gaps(tmp_path: Path):
    stage = Inference(min_new_tokens=6)
    data = MockDataLoader(batch_size=2, tokenizer_stage_id=1)
    graph = Graph.build([Node(0, data, outputs=(1,)), Node(1, stage)], dataset=0)
    result = LoadGen(graph, SingleStreamLoadScheduler(), Stop(max_queries=6)).run(tmp_path / "events")
    rows = read_rows(tmp_path / "events")
    rows = rows[rows["stage"] == 1]
    assert rows["items"].tolist() == [6] * 6
    assert (rows["start"] < rows["first"]).all()
    assert (rows["first"] < rows["end"]).all()
    assert result.first_result is not None
    assert result.per_item is not None
    assert result.per_item["p50"] > 0
    assert 0 < result.first_result["p50"] < result.latency["p50"]
    assert result.completed == 6
    found = figures(result, 1)
    assert (found["answer_tokens"], found["prompts_cut"]) == (6 * 2 * 6, 0)
    assert found["tokens_per_s"] > 0
    assert found["prompt_tokens"] > 6 * 2


def test_an_answer_ends_at_the_models_end_token_unless_it_is_too_early():
    stage = set_up(Inference(max_new_tokens=8))
    free = tokens(stage)[0]
    # Whatever the model says third is made its end token.
    stage.model.generation_config.eos_token_id = [free[2]]
    first = free.index(free[2])
    assert tokens(stage)[0] == free[: first + 1]
    longer = Inference(max_new_tokens=8, min_new_tokens=6, depends_on_id=1)
    said = tokens(set_up(longer, stage_1=stage))[0]
    assert len(said) >= 6
    assert free[2] not in said[:5]


def test_rows_end_one_by_one_and_the_batch_goes_on():
    stage = set_up(Inference(lengths={"distribution": "uniform", "min": 2, "max": 9}, seed=1))
    steps = list(stage.process(ASKED))
    lengths = [len(answer) for answer in steps[0].generation.answers]
    assert len(set(lengths)) > 1
    assert len(steps) == max(lengths)
    for row, length in enumerate(lengths):
        assert [step.tokens[row] is not None for step in steps] == [n < length for n in range(len(steps))]
    assert (
        tokens(set_up(Inference(lengths={"distribution": "uniform", "min": 2, "max": 9}, seed=1)))[0]
        == tokens(stage)[0]
    )


def test_drawn_lengths_have_the_mean_and_spread_asked_for():
    for kind in ("normal", "lognormal"):
        drawn = AnswerLengths.read(None, None, {"distribution": kind, "mean": 40, "std": 10, "max": 500}, seed=2)
        found = [drawn.of(f"prompt {n}")[1] for n in range(4000)]
        mean = sum(found) / len(found)
        assert mean == pytest.approx(40, abs=1)
        assert (sum((each - mean) ** 2 for each in found) / len(found)) ** 0.5 == pytest.approx(10, abs=1)
        assert found == [drawn.of(f"prompt {n}")[1] for n in range(4000)]
    even = AnswerLengths.read(None, None, {"distribution": "uniform", "min": 3, "max": 5}, seed=0)
    assert {even.of(str(n))[1] for n in range(100)} == {3, 4, 5}


def test_a_loaders_tokens_are_used_as_they_are_and_give_what_the_text_gives():
    stage = set_up(Inference(min_new_tokens=4))
    batch = loader(stage, batch_size=3).process(0)
    seen: list[Any] = []
    forward = stage._prompts._lm.tokenizer.__class__.__call__
    try:
        stage.tokenizer.__class__.__call__ = lambda *a, **k: seen.append(a) or forward(*a, **k)
        there = tokens(stage, batch)
        assert seen == []
        assert tokens(stage, PromptBatch(batch.prompts)) == there
        assert len(seen) == 1
    finally:
        stage.tokenizer.__class__.__call__ = forward


def test_a_prompt_that_does_not_fit_keeps_its_end_and_is_counted():
    stage = set_up(Inference(min_new_tokens=4))
    stage._prompts._most = 6
    answer = answers(stage, PromptBatch(("a long prompt about rivers and bridges and harbours", "short")))
    assert answer.prompt_tokens[0] == 6
    assert {m.name: m.value for m in stage.measured()}["prompts_cut"] == 1


def test_one_model_is_shared_by_all_that_depend_on_it():
    data = HuggingFaceDataLoader(batch_size=2, tokenizer_stage_id=1)
    tuned = Finetune(model={"lora_dropout": 0.9}, optimizer={"lr": 0.01})
    asking, again = Inference(min_new_tokens=3, depends_on_id=1), Inference(min_new_tokens=3, depends_on_id=2)
    nodes = [Node(0, data, outputs=(1, 2, 3)), Node(1, tuned), Node(2, asking), Node(3, again)]
    result = run(*nodes, queries=4)
    assert result.completed == 4
    assert tuned.model is asking.model is again.model
    assert tuned.language_model is again.language_model
    distinct = {id(p): p.numel() for stage in (tuned, asking, again) for p in stage.model.parameters()}
    assert sum(distinct.values()) == 112_448 + 17_152
    # Dropout must not be on while it answers, nor off while it learns.
    said = tokens(asking)
    assert not asking.model.training
    assert said == tokens(again) == tokens(asking)
    tuned.process(loader(tuned, batch_size=2).process(0))
    assert tuned.model.training
    assert figures(result, 1)["optimizer_steps"] == 4


def test_what_a_finetune_learnt_is_in_the_answers_of_who_shares_it():
    tuned = set_up(Finetune(model={"lora_rank": 0}, optimizer={"lr": 0.01}))
    asking = set_up(Inference(min_new_tokens=8, depends_on_id=1), stage_1=tuned)
    data = loader(tuned, batch_size=8)
    before = tokens(asking)
    for n in range(10):
        tuned.process(data.process(n))
    assert tokens(asking) != before


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"model": {"temperatur": 1}}, "model: unknown key 'temperatur'; did you mean 'temperature'?"),
        ({"model": {"temperature": -1}}, "model.temperature: Input should be greater than or equal to 0, not -1"),
        (
            {"model": {"quantize": True}},
            "model.quantize needs an NVIDIA GPU, and this machine has none: set it to false",
        ),
        ({"model": {"gen_kwargs": {"num_beams": 4}}}, "model.gen_kwargs: unknown key 'num_beams'"),
        ({"max_new_tokens": 4, "min_new_tokens": 5}, "min_new_tokens 5 is more than max_new_tokens 4"),
        ({"max_new_tokens": -1}, "max_new_tokens must be at least 1, not -1"),
        ({"lengths": {"max": 4}}, "lengths: lognormal needs mean"),
        ({"lengths": {"distribution": "uniform", "mean": 2, "max": 4}}, "lengths: uniform has no mean"),
        ({"lengths": {"distribution": "uniform", "min": 5, "max": 4}}, "lengths: min 5 is more than max 4"),
        ({"lengths": {"max": 4}, "max_new_tokens": 3}, "lengths: leave max_new_tokens and min_new_tokens out"),
        ({"data_model": {"type": "object"}, "min_new_tokens": 3}, "data_model says where an answer ends"),
        ({"data_model": "nowhere.at.All"}, "data_model: nothing is at 'nowhere.at.All'"),
        ({"data_model": "pathlib.Path"}, "data_model: 'pathlib.Path' is no pydantic model"),
        ({"seed": -1}, "seed must be 0 or more, not -1"),
        ({"dtype": "float"}, "dtype: unknown number type 'float'"),
    ],
)
def test_what_is_wrong_with_a_key_is_said_at_once(keys: dict[str, Any], message: str):
    with pytest.raises(ValueError) as caught:
        Inference(**keys)
    assert str(caught.value).startswith(message)


def test_the_same_keys_may_stand_in_gen_kwargs():
    stage = Inference(model={"gen_kwargs": {"max_new_tokens": 7, "temperature": 0.5}})
    assert (stage.lengths.most, stage.sampling.temperature) == (7, 0.5)


@pytest.mark.parametrize(
    ("other", "keys", "message"),
    [
        (
            MockDataLoader,
            {},
            "depends_on_id: stage 1 is a MockDataLoader, which loads no model of transformers",
        ),
        (
            lambda: set_up(Inference()),
            {"model": {"name": "Qwen/Qwen2.5-0.5B"}},
            "depends_on_id: stage 1 has loaded 'tiny', and this one names 'Qwen/Qwen2.5-0.5B': name the same model",
        ),
    ],
)
def test_a_stage_that_cannot_be_depended_on_is_named(other: Any, keys: dict[str, Any], message: str):
    with pytest.raises(UsageError) as caught:
        set_up(Inference(depends_on_id=1, **keys), stage_1=other())
    assert str(caught.value).startswith(message)


def test_what_is_neither_prompts_nor_text_is_refused():
    stage = set_up(Inference(min_new_tokens=2))
    assert answers(stage, "just text").answer_tokens == (2,)
    assert answers(stage, ["a", "b"]).answer_tokens == (2, 2)
    with pytest.raises(UsageError, match="Inference was given a int: it answers a PromptBatch, a text or a list"):
        stage.process(3)


def test_what_was_asked_for_and_not_given_is_told():
    loaded = set_up(Inference(device="cuda:3", max_new_tokens=2))
    assert loaded.notes() == ["asked for cuda:3, which torch cannot use here: it ran on the CPU"]
    sharing = set_up(
        Inference(dtype="torch.bfloat16", device="cuda:3", depends_on_id=1, max_new_tokens=2), stage_1=loaded
    )
    assert sharing.notes() == ["asked for bfloat16: the model that it shares is float32"]


def test_no_token_outside_the_tokenizer_is_said():
    stage = set_up(Inference(model={"temperature": 2.0}, min_new_tokens=30))
    assert max(max(row) for row in tokens(stage)) < VOCABULARY
