"""Several batches, one step of the optimiser: the weights end where one large batch would have put them.

The loss of a batch is a mean over its label tokens, and batches differ in how many they have. A mean of such means is
not the mean of all tokens. So losses are summed over tokens here, and divided when the last batch of the step is
known. https://unsloth.ai/blog/gradient tells how widespread the other way was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.record.metric import Metric
from assay.stages.pytorch.device import library


@dataclass(frozen=True)
class TrainStep:
    """What a training stage says of one batch."""

    loss: float
    """Mean over the batch's label tokens, in nats, before any change of weights."""
    stepped: bool
    """The optimiser has changed the weights after it."""
    tokens: int


@dataclass
class TrainingLog:
    """What a training stage has measured, one number an optimiser step."""

    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    tokens: int = 0
    busy_s: float = 0.0
    judged_loss: float = 0.0
    """Sum over the label tokens of batches that were not trained on."""
    judged_tokens: int = 0

    def metrics(self) -> Sequence[Metric]:
        found = [Metric("optimizer_steps", len(self.losses), exact=True)]
        if self.losses:
            mean = sum(self.seconds) / len(self.seconds)
            found += [
                Metric("loss", self.losses[-1], "nats", "lower", tuple(self.losses)),
                Metric("loss_first", self.losses[0], "nats"),
                Metric("gradient_norm", self.norms[-1], samples=tuple(self.norms)),
                Metric("step_s", mean, "s", "lower", tuple(self.seconds)),
            ]
        if self.busy_s:
            found.append(Metric("tokens_per_s", self.tokens / self.busy_s, "1/s", "higher"))
            found.append(Metric("trained_tokens", self.tokens, exact=True))
        if self.judged_tokens:
            found.append(Metric("evaluation_loss", self.judged_loss / self.judged_tokens, "nats", "lower"))
        return found


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
