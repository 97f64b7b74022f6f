from __future__ import annotations

from typing import Any

from assay.errors import UsageError
from assay.stages.llm_torchtune.decoder import Decoder
from assay.stages.llm_torchtune.torchtune_library import current, torchtune
from assay.stages.llm_torchtune.tune_batch import TuneBatch
from assay.stages.pytorch.build_component import build_component
from assay.stages.pytorch.libraries import library
from assay.stages.pytorch.options import ComponentOptions


class LossOptions(ComponentOptions):
    """A mean over the labels that are not ignored."""

    component: str = "torch.nn.CrossEntropyLoss"


class LabelLoss:
    """The loss of a configuration's, over the labels of a batch."""

    def __init__(self, options: LossOptions, model: Any) -> None:
        self._loss = build_component("loss", current(options), "torchtune")
        reduction = getattr(self._loss, "reduction", "mean")
        if reduction != "mean":
            raise UsageError(f"loss.reduction must be mean, not {reduction}: batches are weighed by their labels")
        self.ignored = int(getattr(self._loss, "ignore_index", torchtune("torchtune.data").CROSS_ENTROPY_IGNORE_IDX))
        """Label of a token that is not learnt."""
        if hasattr(self._loss, "num_output_chunks"):
            model.set_num_output_chunks(self._loss.num_output_chunks)

    def __call__(self, decoder: Decoder, batch: TuneBatch) -> tuple[Any, int]:
        """The mean, and the number of labels: each is predicted from the token before it."""
        torch, device = library("torch", "llm"), decoder.device.torch
        mask, places = (None if part is None else part.to(device) for part in (batch.mask, batch.input_pos))
        logits = decoder.run_uncached(batch.tokens.to(device), mask, places)
        after = batch.labels.new_full((len(batch.labels), 1), self.ignored)
        wanted = torch.hstack((batch.labels[:, 1:], after))
        count = int((wanted != self.ignored).sum())
        wanted = wanted.to(device)
        if isinstance(logits, list):  # In pieces, as losses that save memory take them.
            return self._loss(logits, wanted), count
        return self._loss(logits.flatten(0, 1), wanted.flatten()), count
