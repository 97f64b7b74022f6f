"""The models that weight stores are measured on: chains of versions whose likeness is known because it was made.

Every scenario is a function of dtype, size and seed and nothing else, so two stores always see the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from assay.errors import UsageError
from assay.names import unknown
from assay.weights.base_finder import sketch_of
from assay.weights.element_types import ELEMENT_TYPES, bits_of, element_type
from assay.weights.store import Tensor


def tensor_digest(tensor: Tensor) -> str:
    """dtype, shape and every bit in one word, to compare tensors across processes."""
    digest = blake2b(tensor.tobytes(), digest_size=16).hexdigest()
    return f"{tensor.dtype.name} {tensor.shape} {digest}"


def model_digests(model: Mapping[str, Tensor]) -> dict[str, str]:
    return {name: tensor_digest(tensor) for name, tensor in model.items()}


@dataclass(frozen=True)
class TensorFamilies:
    """Models whose tensors are variants of a few originals, under names that do not tell which: a clustering has to.

    Each model holds one member of every family, in an order of its own.
    """

    models: tuple[dict[str, Tensor], ...]
    truth: tuple[int, ...]
    """The family of every tensor, model after model."""

    @property
    def tensors(self) -> list[Tensor]:
        return [tensor for model in self.models for tensor in model.values()]

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors)

    def sketches(self) -> Tensor:
        return np.stack([sketch_of(bits_of(tensor), element_type(tensor.dtype)) for tensor in self.tensors])


def tensor_families(
    families: int, members: int, elements: int = 4096, step: float = 0.05, seed: int = 0, dtype: str = "float32"
) -> TensorFamilies:
    """Members differ from their original by `step` times its spread."""
    rng = np.random.default_rng([seed, families])
    originals = [rng.standard_normal(elements, dtype=np.float32) for _ in range(families)]
    models, truth = [], []
    for member in range(members):
        order = [int(family) for family in rng.permutation(families)]
        model: dict[str, Tensor] = {}
        for place, family in enumerate(order):
            noise = rng.standard_normal(elements, dtype=np.float32)
            variant = originals[family] + np.float32(step) * noise
            model[f"model-{member}.tensor-{place}"] = variant.astype(ELEMENT_TYPES[dtype].numpy)
        models.append(model)
        truth.extend(order)
    return TensorFamilies(tuple(models), tuple(truth))


Model = dict[str, Tensor]
REFERENCE_PARAMETERS = 14_600_000


@dataclass(frozen=True)
class ModelVersion:
    label: str
    parent: int | None
    """The number of the version this one was made from."""
    family: str
    """Which original it descends from: what a clustering should find again."""
    tensors: Mapping[str, Tensor]

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors.values())


@dataclass(frozen=True)
class ScenarioData:
    name: str
    dtype: str
    versions: tuple[ModelVersion, ...]

    @property
    def parents(self) -> list[int | None]:
        return [version.parent for version in self.versions]

    @property
    def models(self) -> list[Mapping[str, Tensor]]:
        return [version.tensors for version in self.versions]

    @property
    def logical_bytes(self) -> int:
        return sum(version.nbytes for version in self.versions)


@dataclass(frozen=True)
class Maker:
    dtype: str
    parameters: int
    versions: int
    rng: np.random.Generator

    def cast(self, model: Model) -> Model:
        return {name: tensor.astype(ELEMENT_TYPES[self.dtype].numpy) for name, tensor in model.items()}

    def transformer(self) -> Model:
        """float32, with the usual initialisation: 14.6 million parameters at width 384."""
        width = max(16, round(384 * (self.parameters / REFERENCE_PARAMETERS) ** 0.5 / 8) * 8)
        model: Model = {"embedding.weight": self.normal((27 * width, width), 0.02)}
        for layer in range(6):
            prefix = f"layers.{layer}."
            for part in ("q", "k", "v", "o"):
                model[f"{prefix}attention.{part}.weight"] = self.normal((width, width), width**-0.5)
                model[f"{prefix}attention.{part}.bias"] = self.normal((width,), 0.01)
            model[prefix + "up.weight"] = self.normal((4 * width, width), width**-0.5)
            model[prefix + "up.bias"] = self.normal((4 * width,), 0.01)
            model[prefix + "down.weight"] = self.normal((width, 4 * width), (4 * width) ** -0.5)
            model[prefix + "down.bias"] = self.normal((width,), 0.01)
            for norm in ("norm1", "norm2"):
                model[f"{prefix}{norm}.weight"] = 1 + self.normal((width,), 0.05)
                model[f"{prefix}{norm}.bias"] = self.normal((width,), 0.05)
        return model

    def normal(self, shape: tuple[int, ...], scale: float) -> Tensor:
        return self.rng.standard_normal(shape, dtype=np.float32) * np.float32(scale)

    def move(self, model: Model, amount: float, only: Callable[[str], bool] = lambda _: True) -> Model:
        """Every weight moved by a normal step of `amount` times its tensor's spread."""
        return {
            name: tensor + self.normal(tensor.shape, amount * float(tensor.std())) if only(name) else tensor
            for name, tensor in model.items()
        }


def scenario_data(
    name: str, dtype: str = "float32", parameters: int = REFERENCE_PARAMETERS, versions: int = 4, seed: int = 0
) -> ScenarioData:
    if name not in SCENARIOS:
        raise UsageError(unknown("scenario", name, SCENARIOS))
    maker = Maker(dtype, parameters, versions, np.random.default_rng([seed, *name.encode()]))
    return ScenarioData(name, dtype, tuple(SCENARIOS[name](maker)))


def _star(maker: Maker, change: Callable[[Model], Model]) -> list[ModelVersion]:
    """One original and models made from it, each by itself."""
    original = maker.transformer()
    versions = [ModelVersion("original", None, "original", maker.cast(original))]
    for number in range(1, maker.versions):
        versions.append(ModelVersion(f"variant-{number}", 0, "original", maker.cast(change(original))))
    return versions


def _chain(maker: Maker, change: Callable[[Model, int], Model]) -> list[ModelVersion]:
    model = maker.transformer()
    versions = [ModelVersion("step-0", None, "run", maker.cast(model))]
    for number in range(1, maker.versions):
        model = change(model, number)
        versions.append(ModelVersion(f"step-{number}", number - 1, "run", maker.cast(model)))
    return versions


def similar(maker: Maker) -> list[ModelVersion]:
    """Fine-tunes in which every weight moved by 1e-3 of the spread."""
    return _star(maker, lambda model: maker.move(model, 1e-3))


def finetune(maker: Maker) -> list[ModelVersion]:
    """Fine-tunes in which every weight moved by 5e-2 of the spread."""
    return _star(maker, lambda model: maker.move(model, 5e-2))


def checkpoints(maker: Maker) -> list[ModelVersion]:
    """A training run saved at every step, with shrinking steps; the last save is an exact duplicate."""
    versions = _chain(maker, lambda model, number: maker.move(model, 1e-2 / 2**number))
    last = versions[-1]
    return [*versions, ModelVersion("final", len(versions) - 1, last.family, last.tensors)]


def transfer(maker: Maker) -> list[ModelVersion]:
    """The body nearly unchanged (5e-3), the embedding for another vocabulary, a new head."""

    def change(model: Model) -> Model:
        body = maker.move(model, 5e-3, only=lambda name: name.startswith("layers."))
        body["embedding.weight"] = maker.normal(model["embedding.weight"].shape, 0.02)
        body["head.weight"] = maker.normal((100, model["embedding.weight"].shape[1]), 0.05)
        return body

    return _star(maker, change)


def frozen(maker: Maker) -> list[ModelVersion]:
    """Only the last two layers are trained; the rest is the same to the bit."""
    return _chain(
        maker, lambda model, _: maker.move(model, 1e-2, only=lambda name: name.startswith(("layers.4", "layers.5")))
    )


def lora_merged(maker: Maker) -> list[ModelVersion]:
    """A rank-8 update merged into the attention projections."""

    def change(model: Model) -> Model:
        out = dict(model)
        for name, tensor in model.items():
            if "attention" in name and tensor.ndim == 2:
                down = maker.normal((8, tensor.shape[1]), 1.0)
                up = maker.normal((tensor.shape[0], 8), 2e-2 * float(tensor.std()) / 8**0.5)
                out[name] = tensor + up @ down
        return out

    return _star(maker, change)


def sparse(maker: Maker) -> list[ModelVersion]:
    """One weight in a hundred moved."""

    def change(model: Model, _: int) -> Model:
        stepped = maker.move(model, 5e-2)
        return {name: np.where(maker.rng.random(t.shape) < 0.01, stepped[name], t) for name, t in model.items()}

    return _chain(maker, change)


def mixed(maker: Maker) -> list[ModelVersion]:
    """Two originals, fine-tunes and checkpoints of both, an exact duplicate."""
    first, second = maker.transformer(), maker.transformer()
    near = maker.move(first, 1e-3)
    parts: list[tuple[str, int | None, str, Model]] = [
        ("first", None, "first", first),
        ("second", None, "second", second),
        ("first-near", 0, "first", near),
        ("second-far", 1, "second", maker.move(second, 5e-2)),
        ("first-next", 2, "first", maker.move(near, 1e-2)),
        ("first-again", 0, "first", first),
    ]
    return [ModelVersion(label, parent, family, maker.cast(model)) for label, parent, family, model in parts]


def training(maker: Maker) -> list[ModelVersion]:
    """A network really trained by Adam, saved with its moments. Moments stay float32 where float16 would lose them."""
    versions: list[ModelVersion] = []
    for number, (weights, moments) in enumerate(_adam(maker)):
        state = moments if maker.dtype == "float16" else maker.cast(moments)
        tensors: dict[str, Any] = {**maker.cast(weights), **state}
        versions.append(ModelVersion(f"step-{number}", number - 1 if number else None, "run", tensors))
    return versions


def _adam(maker: Maker) -> list[tuple[Model, Model]]:
    """Regression on a fixed random teacher with a three-layer perceptron; Adam after Kingma and Ba (2015)."""
    rng = maker.rng
    width = max(64, round((maker.parameters / REFERENCE_PARAMETERS) ** 0.5 * 1024 / 8) * 8)
    sizes = [width, width, width, 16]
    weights = [maker.normal((i, o), (2 / i) ** 0.5) for i, o in pairwise(sizes)]
    teacher = maker.normal((width, 16), width**-0.5)
    first = [np.zeros_like(w) for w in weights]
    second = [np.zeros_like(w) for w in weights]
    saved = []
    for step in range(1, 20 * maker.versions + 1):
        x = rng.standard_normal((128, width), dtype=np.float32)
        activations = [x]
        for w in weights[:-1]:
            activations.append(np.maximum(activations[-1] @ w, 0))
        gradient = (activations[-1] @ weights[-1] - np.tanh(x @ teacher)) / len(x)
        for layer in reversed(range(3)):
            slope = activations[layer].T @ gradient
            gradient = (gradient @ weights[layer].T) * (activations[layer] > 0)
            first[layer] = 0.9 * first[layer] + np.float32(0.1) * slope
            second[layer] = 0.999 * second[layer] + np.float32(0.001) * slope**2
            rate = 1e-3 * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
            weights[layer] = weights[layer] - np.float32(rate) * first[layer] / (np.sqrt(second[layer]) + 1e-8)
        if step % 20 == 0:
            names = [f"layers.{i}.weight" for i in range(3)]
            moments = {f"exp_avg.{n}": m for n, m in zip(names, first, strict=True)}
            moments |= {f"exp_avg_sq.{n}": m for n, m in zip(names, second, strict=True)}
            saved.append((dict(zip(names, weights, strict=True)), moments))
    return saved


SCENARIOS: Mapping[str, Callable[[Maker], list[ModelVersion]]] = {
    maker.__name__: maker
    for maker in (similar, finetune, checkpoints, transfer, mixed, frozen, lora_merged, sparse, training)
}
