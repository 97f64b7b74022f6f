from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.record.metric import Metric


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
