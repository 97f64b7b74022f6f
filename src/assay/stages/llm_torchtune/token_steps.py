from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import DataError
from assay.stages.llm_torchtune.decoder import Decoder
from assay.stages.llm_torchtune.torchtune_library import torchtune
from assay.stages.llm_torchtune.tune_batch import TuneBatch
from assay.stages.pytorch.dtype import torch_dtype
from assay.stages.pytorch.libraries import library

_CACHE_STEP = 256
"""Caches are as long as needed, in these steps: prompts of nearly one length share one cache."""


@dataclass(frozen=True)
class TokenSampling:
    temperature: float = 0.0
    top_k: int | None = None
    most: int = 32
    least: int = 0
    """Fewest tokens of an answer: none ends before."""

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError(f"temperature must not be below 0, not {self.temperature}")
        if self.top_k is not None and self.top_k < 1:
            raise ValueError(f"top_k must be at least 1, not {self.top_k}")
        if self.most < 1:
            raise ValueError(f"max_new_tokens must be at least 1, not {self.most}")
        if not 0 <= self.least <= self.most:
            raise ValueError(f"min_new_tokens must be from 0 to max_new_tokens ({self.most}), not {self.least}")

    def choose(self, logits: Any, random: Any) -> Any:
        """A token a row."""
        if self.temperature == 0:
            return logits.argmax(dim=-1, keepdim=True)
        drawn = library("torch", "llm").empty_like(logits).exponential_(1, generator=random)
        sample = torchtune("torchtune.generation").sample
        return sample(logits, temperature=self.temperature, top_k=self.top_k, q=drawn).long()


def token_steps(
    decoder: Decoder, prompts: TuneBatch, stop: Sequence[int], sampling: TokenSampling, cache: bool, random: Any
) -> Iterator[tuple[int | None, ...]]:
    """The next token of every prompt, step by step, until all answers have ended or are as long as they may be.

    The caller holds the decoder's lock: with `cache`, the model remembers the prompts from step to step.
    """
    torch, generation = library("torch", "llm"), torchtune("torchtune.generation")
    device = decoder.device.torch
    tokens = prompts.tokens.to(device)
    rows, length = tokens.shape
    total = length + sampling.most
    if total > decoder.context:
        raise DataError(
            f"a prompt of {length} tokens and {sampling.most} new ones (max_new_tokens) are more than the "
            f"{decoder.context} that the model takes"
        )
    model = decoder.model
    decoder.set_training(False)
    width = prepare_cache(decoder, rows, total) if cache else total
    gaps = torch.tensor([[length - own] for own in prompts.lengths], device=device)
    real = torch.arange(total, device=device).expand(rows, total) >= gaps
    masks = generation.get_causal_mask_from_padding_mask(real, target_seq_len=width)
    places = generation.get_position_ids_from_padding_mask(real)
    forbidden = torch.tensor(list(stop), device=device, dtype=torch.long)
    ended = [False] * rows
    fed, begin = tokens, 0
    for step in range(sampling.most):
        end = length + step
        with torch.no_grad():
            if cache:
                logits = model(fed, mask=masks[:, begin:end], input_pos=places[:, begin:end])
            else:
                logits = decoder.run_uncached(fed, masks[:, :end, :end], places[:, :end])
            logits = logits[:, -1].float()
            if step < sampling.least:
                logits[:, forbidden] = -torch.inf
            chosen = sampling.choose(logits, random)
        numbers = chosen.flatten().tolist()
        yield tuple(None if over else number for over, number in zip(ended, numbers, strict=True))
        ended = [over or number in stop for over, number in zip(ended, numbers, strict=True)]
        if all(ended):
            return
        if cache:
            fed, begin = chosen, end
        else:
            fed = torch.cat([fed, chosen], dim=1)


def prepare_cache(decoder: Decoder, rows: int, total: int) -> int:
    """The length of an empty cache of the model that is large enough."""
    model = decoder.model
    length = min(-(-total // _CACHE_STEP) * _CACHE_STEP, decoder.context)
    if model.caches_are_setup():
        held = model.layers[0].attn.kv_cache
        if held.batch_size == rows and model.decoder_max_cache_seq_len >= total:
            model.reset_caches()
            return int(model.decoder_max_cache_seq_len)
        torchtune("torchtune.modules.common_utils").delete_kv_caches(model)
    with decoder.device.torch:
        model.setup_caches(rows, torch_dtype(decoder.dtype), decoder_max_seq_len=length)
    return length
