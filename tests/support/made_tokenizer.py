from __future__ import annotations

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from assay.loadgen.serving.token_text import WordText


def made_tokenizer(folder: Path) -> Path:
    """A small byte-pair tokenizer, as a model's folder has one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    words = WordText().make(np.random.default_rng(0), 4000)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=512, show_progress=False, initial_alphabet=alphabet)
    tokenizer.train_from_iterator([words], trainer)
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path
