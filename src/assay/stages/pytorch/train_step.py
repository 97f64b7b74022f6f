from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainStep:
    """What a training stage says of one batch."""

    loss: float
    """Mean over the batch's label tokens, in nats, before any change of weights."""
    stepped: bool
    """The optimiser has changed the weights after it."""
    tokens: int
