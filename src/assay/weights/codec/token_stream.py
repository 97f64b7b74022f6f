"""A piece of a tensor given its base: tokens with the base's exponent as context, then the raw bits."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from assay.errors import DataError
from assay.weights.codec.entropy import MOST_CONTEXTS, decode_symbols, encode_symbols
from assay.weights.codec.rans_lanes import LANES
from assay.weights.codec.raw_bits import add_differences, read_residuals, write_raw_bits
from assay.weights.codec.tokens import contexts_of, difference_symbols, token_code, xor_symbols
from assay.weights.dtype import ElementType
from assay.weights.store import Tensor

_HEADER = struct.Struct("<BBHI")  # lowest exponent, contexts, 0, words of raw bits
_RARE = 1 / 1024


@dataclass(frozen=True)
class Window:
    """The exponents that have a context of their own."""

    lowest: int
    contexts: int


def window_of(base: Tensor, kind: ElementType) -> Window:
    """From a sample: the highest exponents that are not rare, at most 15 of them."""
    if not kind.exponent:
        return Window(0, 1)
    sample = base[:: max(1, base.size // 4096)]
    exponent = (sample >> sample.dtype.type(kind.mantissa)) & sample.dtype.type((1 << kind.exponent) - 1)
    counts = np.bincount(exponent, minlength=2)
    counts[0] = 0
    common = np.flatnonzero(counts > _RARE * sample.size)
    if not common.size:
        return Window(0, 1)
    highest = int(common[-1])
    lowest = max(int(common[0]), highest - (MOST_CONTEXTS - 2), 1)
    return Window(lowest, highest - lowest + 2)


def symbols_of(bits: Tensor, base: Tensor, kind: ElementType, window: Window, xor: bool) -> tuple[Tensor, Tensor]:
    """Residuals and symbols."""
    residual = np.empty_like(bits)
    symbols = np.empty(bits.size, np.uint16)
    kernel = xor_symbols if xor else difference_symbols
    direct = token_code(kind.bits).direct
    kernel(bits, base, kind.bits, int(kind.exponent > 0), *_place(kind, window), direct, residual, symbols)
    return residual, symbols


def _place(kind: ElementType, window: Window) -> tuple[int, int, int, int]:
    return kind.mantissa, (1 << kind.exponent) - 1, window.lowest, window.contexts - 1


def encode_tokens(bits: Tensor, base: Tensor, kind: ElementType, xor: bool) -> bytes:
    window = window_of(base, kind)
    residual, symbols = symbols_of(bits, base, kind, window, xor)
    code = token_code(kind.bits)
    words = np.empty(bits.size + 2, np.uint32)
    used = write_raw_bits(residual, symbols, code.raw_bits, code.direct, words)
    head = _HEADER.pack(window.lowest, window.contexts, 0, used)
    return b"".join((head, words[:used].tobytes(), encode_symbols(symbols, window.contexts)))


def decode_tokens(data: memoryview, base: Tensor, kind: ElementType, xor: bool, out: Tensor) -> None:
    if len(data) < _HEADER.size:
        raise DataError("a token stream ends before its header")
    lowest, contexts, _, raw_words = _HEADER.unpack_from(data)
    after = _HEADER.size + 4 * raw_words
    if after > len(data) or not 1 <= contexts <= MOST_CONTEXTS:
        raise DataError("the header of a token stream does not fit its data")
    context = np.zeros(out.size + -out.size % LANES, np.uint8)
    window = Window(lowest, contexts)
    contexts_of(base, *_place(kind, window), context[: out.size])
    context[out.size :] = context[out.size - 1]
    tokens, taken = decode_symbols(data[after:], context, out.size)
    if after + taken != len(data):
        raise DataError("a token stream has bytes left over")
    code = token_code(kind.bits)
    words = np.zeros(raw_words + 2, np.uint32)
    words[:raw_words] = np.frombuffer(data, np.uint32, raw_words, _HEADER.size)
    read = read_residuals(tokens, words, code.meaning, code.direct, out)
    if -(-read // 32) != raw_words:
        raise DataError("a token stream has not the raw bits that its tokens ask for")
    if xor:
        np.bitwise_xor(out, base, out=out)
    else:
        add_differences(base, kind.bits, int(kind.exponent > 0), out)
