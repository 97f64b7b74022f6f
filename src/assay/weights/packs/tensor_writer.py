"""Puts a tensor into a pack: finds the best base on a sample, then codes chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from assay.weights.base_finder import FEWEST_ELEMENTS, BaseFinder, signature_of, sketch_of
from assay.weights.codec import short_stream
from assay.weights.codec.choose_method import FEW, alone_cost, cost_given, dense_method, share_of_changed
from assay.weights.codec.chunk import encode_chunk
from assay.weights.codec.codec_methods import CHUNK_ELEMENTS, NEEDS_BASE, Method
from assay.weights.codec.lossy import encode_lossy
from assay.weights.codec.sample_cost import sample_of
from assay.weights.element_types import DIGEST_BYTES, ElementType, element_type, hasher_of
from assay.weights.packs.object_store import ObjectStore
from assay.weights.packs.pack_files import PackWriter
from assay.weights.packs.tensor_record import ChunkPlace, TensorRecord, chunk_count
from assay.weights.repository_config import RepositoryConfig
from assay.weights.store import Tensor

_FORCED = {"COMPRESSED": Method.DIFFERENCE, "XOR": Method.XOR, "SPARSE": Method.SPARSE}
_LOSSY = {"LOSSY_INT8_QUANTIZED": Method.LOSSY_INT8, "LOSSY_INT16_QUANTIZED": Method.LOSSY_INT16}
_WORTH_A_BASE = 0.97
_CLEARLY_GOOD = {"small": 0.4, "balanced": 0.4, "fast": 0.6}
"""Cost with a base, as a share of the element's bits, up to which storing without a base is not even tried."""
_WORTH_A_LINK = {"small": (0.001, 0.001), "balanced": (0.04, 0.075), "fast": (1.0, 1.0)}
"""What each further link of a chain must save, as a share of the element's bits, since it makes reading slower: in a
short chain, and in one of `_LONG` links or more."""
_LONG = 3
_SMALL_CHANGE = {"small": (0.0, 0.0), "balanced": (0.3, 1.3), "fast": (0.0, 0.0)}
"""What a further link of a short chain must save, if that is more than `_WORTH_A_LINK`: this share of the difference's
bits, or so many bits per element, whichever is less."""
_TINY = {"small": 0, "balanced": 1024, "fast": 4096}
"""Elements below which a tensor is kept uncoded: such are hardly anything of a model's size, but cost decoding."""
_WORTH_CODING = 0.8
"""Share of the element's bits above which the fast setting does not code: uncoded, reading is copying, and a difference
to the tensor needs no other decoding."""


@dataclass(frozen=True)
class CodingPlan:
    method: Method
    base: TensorRecord | None
    cost: float
    """Bits per element, on the sample."""


class TensorBits:
    """The bit patterns of a tensor, a chunk at a time; only a tensor in an odd layout is copied, chunk by chunk."""

    def __init__(self, tensor: Tensor, kind: ElementType) -> None:
        self.tensor, self.kind = tensor, kind
        self.count = tensor.size * kind.lanes
        # The kernels take aligned memory only, and a file may have put a tensor anywhere.
        plain = tensor.flags.c_contiguous and tensor.flags.aligned and tensor.dtype.byteorder != ">"
        self._bits = tensor.reshape(-1).view(kind.bit_view) if plain else None

    def chunk(self, number: int) -> Tensor:
        if self._bits is not None:
            start = number * CHUNK_ELEMENTS
            return self._bits[start : start + CHUNK_ELEMENTS]
        step = CHUNK_ELEMENTS // self.kind.lanes
        part = np.asarray(self.tensor.flat[number * step : min((number + 1) * step, self.tensor.size)])
        if part.dtype.byteorder == ">":
            part = part.astype(part.dtype.newbyteorder("<"))
        return np.require(part, requirements=["C", "A"]).view(self.kind.bit_view)

    def __iter__(self) -> Iterator[Tensor]:
        return (self.chunk(number) for number in range(chunk_count(self.count)))

    def digest(self) -> bytes:
        """Digest over the content, its dtype and its shape."""
        hasher = hasher_of(self.kind, self.tensor.shape)
        for bits in self if self._bits is None else (self._bits,):
            hasher.update(bits.view(np.uint8).data)
        return bytes(hasher.digest(DIGEST_BYTES))


class TensorWriter:
    def __init__(self, store: ObjectStore, pack: PackWriter, finder: BaseFinder, config: RepositoryConfig) -> None:
        self._store, self._pack, self._finder, self._config = store, pack, finder, config

    def store(self, tensor: Tensor, bases: Iterable[bytes], pending: Mapping[bytes, TensorRecord]) -> TensorRecord:
        """Appends the tensor unless it is in the repository or `pending` already.

        `bases` are tried before any other.
        """
        kind = element_type(tensor.dtype)
        elements = TensorBits(tensor, kind)
        plan = None
        if self._config.delta_encoding in _LOSSY and kind.exponent:
            plan = self._plan(elements, bases)
            if plan.base is not None:
                return self._write_lossy(elements, plan.base)
        digest = elements.digest()
        if digest in pending:
            return pending[digest]
        if digest in self._store:
            return self._store.record(digest)
        return self._write(elements, digest, plan or self._plan(elements, bases))

    def _write(self, elements: TensorBits, digest: bytes, plan: CodingPlan) -> TensorRecord:
        places = []
        used_base = False
        for number, bits in enumerate(elements):
            base = self._base_chunk(plan.base, number, bits.size)
            method = self._method(plan, bits, base, elements.kind)
            chunk = encode_chunk(method, bits, base, elements.kind, quick=self._config.setting == "fast")
            used_base |= chunk.method in NEEDS_BASE
            places.append(self._pack.add_chunk(chunk.method, chunk.data))
            if plan.base is not None:
                self._store.release_chunk(plan.base.digest, number)
        return self._finish(elements, digest, plan.base if used_base else None, places, lossy=False)

    def _method(self, plan: CodingPlan, bits: Tensor, base: Tensor | None, kind: ElementType) -> Method:
        """The plan's method, unless it is for few changes and this chunk has many: the plan knows the first chunk
        only."""
        if plan.method is Method.SPARSE and base is not None and self._config.delta_encoding not in _FORCED:
            return Method.SPARSE if share_of_changed(bits, base) <= 2 * FEW else dense_method(kind)
        return plan.method

    def _write_lossy(self, elements: TensorBits, base: TensorRecord) -> TensorRecord:
        method = _LOSSY[self._config.delta_encoding]
        places = []
        hasher = hasher_of(elements.kind, elements.tensor.shape)
        for number, bits in enumerate(elements):
            under = self._base_chunk(base, number, bits.size)
            rounded = None if under is None else encode_lossy(method, bits, under, elements.kind)
            if rounded is None:
                chunk = encode_chunk(Method.DIFFERENCE, bits, under, elements.kind)
                places.append(self._pack.add_chunk(chunk.method, chunk.data))
            else:
                data, bits = rounded
                places.append(self._pack.add_chunk(method, data))
            hasher.update(np.ascontiguousarray(bits).view(np.uint8).data)
        return self._finish(elements, bytes(hasher.digest(DIGEST_BYTES)), base, places, lossy=True)

    def _finish(
        self, elements: TensorBits, digest: bytes, base: TensorRecord | None, places: list[ChunkPlace], lossy: bool
    ) -> TensorRecord:
        signature = 0
        if elements.count >= FEWEST_ELEMENTS and self._config.setting != "fast":
            signature = signature_of(sketch_of(elements.chunk(0), elements.kind))
        depth = 0 if base is None else base.depth + 1
        record = TensorRecord(
            digest,
            elements.kind,
            elements.tensor.shape,
            None if base is None else base.digest,
            depth,
            lossy,
            signature,
            tuple(places),
            elements.count,
        )
        self._pack.add_record(record)
        return record

    def _base_chunk(self, base: TensorRecord | None, number: int, elements: int) -> Tensor | None:
        if base is None or number >= len(base.chunks) or base.chunk_elements(number) < elements:
            return None
        return self._store.read_chunk(base.digest, number)[:elements]

    def _plan(self, elements: TensorBits, bases: Iterable[bytes]) -> CodingPlan:
        kind, encoding = elements.kind, self._config.delta_encoding
        fast = self._config.setting == "fast"
        tiny = encoding == "AUTO" and elements.count < _TINY[self._config.setting]
        if elements.count == 0 or encoding == "FLOAT32_RAW" or tiny:
            return CodingPlan(Method.RAW, None, float(kind.bits))
        first = elements.chunk(0)
        if encoding == "NONE":
            return CodingPlan(alone_cost(sample_of(first), kind, self._config.setting)[0], None, 0.0)
        best = self._best_base(first, kind, self._finder.find_named(bases, kind))
        if best is not None and best.cost <= _CLEARLY_GOOD[self._config.setting] * kind.bits:
            return best
        method, alone = alone_cost(sample_of(first), kind, self._config.setting)
        if not fast and (best is None or best.cost > _WORTH_A_BASE * alone):
            signature = signature_of(sketch_of(first, kind)) if elements.count >= FEWEST_ELEMENTS else 0
            alike = self._finder.alike(signature, kind, elements.count)
            best = min(filter(None, (best, self._best_base(first, kind, alike))), key=lambda p: p.cost, default=None)
        if best is not None and best.cost < _WORTH_A_BASE * alone:
            return best
        if fast and (best is None or kind.bits == short_stream.WIDTH):
            return self._quick(first, kind, method, alone)
        return CodingPlan(method, None, alone)

    def _quick(self, first: Tensor, kind: ElementType, method: Method, cost: float) -> CodingPlan:
        """The fast setting's plan for a tensor without a base: others may stand on it, so it is read whenever they
        are."""
        if kind.bits == short_stream.WIDTH:
            method, cost = Method.SHORT, short_stream.cost_of(sample_of(first), kind)
        return (
            CodingPlan(method, None, cost)
            if cost <= _WORTH_CODING * kind.bits
            else CodingPlan(Method.RAW, None, kind.bits)
        )

    def _best_base(self, first: Tensor, kind: ElementType, bases: list[TensorRecord]) -> CodingPlan | None:
        best = None
        for record in bases:
            size = min(first.size, record.chunk_elements(0))
            base = self._store.read_chunk(record.digest, 0)[:size]
            quick = self._config.setting == "fast"
            method, cost = cost_given(sample_of(first[:size]), sample_of(base), kind, quick)
            if self._config.delta_encoding in _FORCED:
                method = _method_for(self._config.delta_encoding, kind)
            if best is None or cost < best.cost + self._forgiven(best, record, kind):
                best = CodingPlan(method, record, cost)
        return best

    def _forgiven(self, plan: CodingPlan, other: TensorRecord, kind: ElementType) -> float:
        """Bits per element that the other base may cost more: nearer to the start of its chain, it reads faster."""
        depth = 0 if plan.base is None else plan.base.depth
        short, long = _WORTH_A_LINK[self._config.setting]
        share, most = _SMALL_CHANGE[self._config.setting]
        link = long * kind.bits if depth + 1 >= _LONG else max(short * kind.bits, min(share * plan.cost, most))
        return (depth - other.depth) * link


def _method_for(encoding: str, kind: ElementType) -> Method:
    if kind.bits > 32 and encoding != "SPARSE":
        return Method.XOR_PLANES if encoding == "XOR" else Method.DIFFERENCE_PLANES
    return _FORCED[encoding]
