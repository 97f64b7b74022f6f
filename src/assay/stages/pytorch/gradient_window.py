"""Several batches, one step of the optimiser: the weights end where one large batch would have put them.

The loss of a batch is a mean over its label tokens, and batches differ in how many they have. A mean of such means is
not the mean of all tokens. So losses are summed over tokens here, and divided when the last batch of the step is
known. https://unsloth.ai/blog/gradient tells how widespread the other way was.
"""

from __future__ import annotations

from typing import Any

from assay.stages.pytorch.libraries import library


class GradientWindow:
    def __init__(self, batches: int) -> None:
        self.batches = batches
        self.count = 0
        self.tokens = 0
        self.loss = 0.0
        """Summed over tokens."""
        self._scale = 1

    def weigh(self, loss: Any, tokens: int) -> Any:
        """What to differentiate. Dividing by the first batch's tokens keeps gradients in the range of half numbers."""
        if self.count == 0:
            self._scale = max(tokens, 1)
        return loss / self._scale

    def add(self, loss: float, tokens: int) -> bool:
        """True: this was the last batch before a step."""
        self.count += 1
        self.tokens += tokens
        self.loss += loss
        return self.count == self.batches

    def normalise(self, gradients: list[Any]) -> None:
        """Turns sums over the first batch's number of tokens into means over all tokens of the window."""
        if self.tokens != self._scale:
            library("torch", "llm")._foreach_mul_(gradients, self._scale / max(self.tokens, 1))

    @property
    def mean_loss(self) -> float:
        return self.loss / max(self.tokens, 1)

    def reset(self) -> None:
        self.count = self.tokens = 0
        self.loss = 0.0


def sum_loss(logits: Any, labels: Any) -> Any:
    """Cross-entropy of every label with what was predicted at the token before it, summed, in nats."""
    functional = library("torch.nn.functional", "llm")
    predicted = logits[:, :-1].flatten(0, 1).float()
    return functional.cross_entropy(predicted, labels[:, 1:].flatten(), reduction="sum")
