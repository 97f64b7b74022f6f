"""A language model and its tokenizer that are made here in a moment, so that nothing needs a download.

A Qwen2 of the smallest sizes: every library that loads that family loads it. It knows nothing; what is measured on it
is the code around it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from assay.stages.pytorch.device import library, quiet

# Rows of instruction, input and output, made here: for a tokenizer, for training, and for questions to a model.

_WORDS = (
    "river",
    "garden",
    "winter",
    "bridge",
    "harbour",
    "signal",
    "kitchen",
    "window",
    "teacher",
    "journey",
    "council",
    "picture",
    "machine",
    "forest",
    "railway",
    "market",
    "engine",
    "letter",
    "number",
    "morning",
    "paper",
    "village",
    "station",
    "weather",
    "history",
    "measure",
    "light",
    "water",
    "answer",
    "question",
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLACES = ("in the north", "near the old mill", "behind the school", "by the sea", "under the hill")
_COLOURS = ("red", "green", "blue", "white", "yellow")

SIZES = {"train": 512, "validation": 64, "test": 64}
"""Rows of each split."""


@dataclass(frozen=True)
class TinyRow:
    instruction: str
    input: str
    output: str


def _sum(rng: Random) -> TinyRow:
    a, b = rng.randrange(10), rng.randrange(10)
    return TinyRow("You are a helpful assistant that adds numbers.", f"What is {a} plus {b}?", f"The sum is {a + b}.")


def _spelling(rng: Random) -> TinyRow:
    word = rng.choice(_WORDS)
    return TinyRow("You spell words, one letter after the other.", f"Spell the word {word}.", " ".join(word))


def _day(rng: Random) -> TinyRow:
    at = rng.randrange(7)
    question = f"Which day comes after {_DAYS[at]}?"
    return TinyRow("You answer questions about the calendar.", question, f"It is {_DAYS[(at + 1) % 7]}.")


def _colour(rng: Random) -> TinyRow:
    word, place, colour = rng.choice(_WORDS), rng.choice(_PLACES), rng.choice(_COLOURS)
    text = f"The {word} {place} is {colour}. What colour is the {word}?"
    return TinyRow("You read a sentence and answer the question about it.", text, f"The {word} is {colour}.")


def _list(rng: Random) -> TinyRow:
    """Without an input, as some rows of real sets of instructions are."""
    words = rng.sample(_WORDS, rng.randint(2, 6))
    return TinyRow(f"Put these words in the order of the alphabet: {', '.join(words)}.", "", ", ".join(sorted(words)))


_KINDS: tuple[Callable[[Random], TinyRow], ...] = (_sum, _spelling, _day, _colour, _list)


def tiny_rows(split: str = "train") -> list[TinyRow]:
    """The same rows at every call. Splits differ by their seed; short questions may stand in several of them."""
    rng = Random(f"tiny rows {split}")
    return [rng.choice(_KINDS)(rng) for _ in range(SIZES[split])]


TINY = "tiny"
"""Name by which configurations ask for it."""
VOCABULARY = 500
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
"""They follow the tokens that were learnt, as in the family's published tokenizers."""
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_CONTEXT = 4096
"""Most tokens of a prompt and its answer."""


def tiny_tokenizer() -> Any:
    """Byte-level pairs learnt from `tiny_rows`, with a ChatML template: a `transformers.Qwen2Tokenizer`."""
    vocabulary, merges = _learn_pairs()
    with quiet():
        return library("transformers", "llm").Qwen2Tokenizer(
            vocab=vocabulary,
            merges=merges,
            unk_token=None,
            eos_token="<|im_end|>",
            pad_token="<|endoftext|>",
            extra_special_tokens=list(SPECIAL),
            chat_template=CHAT_TEMPLATE,
            model_max_length=_CONTEXT,
        )


def tiny_language_model(seed: int = 0) -> Any:
    """A `transformers.Qwen2ForCausalLM` of 112,448 parameters in float32, drawn from the seed."""
    torch, transformers = library("torch", "llm"), library("transformers", "llm")
    with quiet():
        config = transformers.Qwen2Config(
            vocab_size=VOCABULARY,
            hidden_size=64,
            intermediate_size=144,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=_CONTEXT,
            tie_word_embeddings=True,
            bos_token_id=None,
            eos_token_id=VOCABULARY - 1,
            pad_token_id=VOCABULARY - len(SPECIAL),
        )
        # Whoever draws numbers elsewhere in this process draws the same with and without this model.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return transformers.Qwen2ForCausalLM(config).eval()


def write_tiny_model(folder: Path, seed: int = 0) -> list[Path]:
    """The files of a model folder: config.json, model.safetensors, tokenizer.json, vocab.json, merges.txt, …"""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tiny_tokenizer()
    with quiet():
        tiny_language_model(seed).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        # Libraries that have a tokenizer of their own read the two older files.
        tokenizer.backend_tokenizer.model.save(str(folder))
    return sorted(path for path in folder.iterdir() if path.is_file())


def _learn_pairs() -> tuple[dict[str, int], list[tuple[str, str]]]:
    tokenizers = library("tokenizers", "llm")
    with quiet():
        family = library("transformers", "llm").Qwen2Tokenizer()
    untrained = tokenizers.Tokenizer(tokenizers.models.BPE())
    untrained.normalizer = family.backend_tokenizer.normalizer
    untrained.pre_tokenizer = family.backend_tokenizer.pre_tokenizer
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIAL),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = (text for row in tiny_rows() for text in (row.instruction, row.input, row.output))
    untrained.train_from_iterator(texts, trainer)
    learnt = json.loads(untrained.to_str())["model"]
    vocabulary = {**learnt["vocab"], **{token: len(learnt["vocab"]) + at for at, token in enumerate(SPECIAL)}}
    return vocabulary, [tuple(pair) for pair in learnt["merges"]]
