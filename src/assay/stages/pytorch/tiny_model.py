"""A language model and its tokenizer that are made here in a moment, so that nothing needs a download.

A Qwen2 of the smallest sizes: every library that loads that family loads it. It knows nothing; what is measured on it
is the code around it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.stages.pytorch.libraries import library, quiet
from assay.stages.pytorch.tiny_rows import tiny_rows

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
