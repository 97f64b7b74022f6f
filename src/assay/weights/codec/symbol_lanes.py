"""From elements and their bases to residuals and symbols, a register at a time."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from assay.weights.codec.element_lanes import Elements
from assay.weights.codec.lanes import I16, I64, POINTER, WIDTH
from assay.weights.codec.tokens import DIRECT_BITS

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 4, _INT, *[_INT] * 6)


def _symbol_lanes(_numba: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    (width,) = (argument.literal_value for argument in signature.args[-1:])
    bits, base, residuals, symbols = (builder.inttoptr(a, POINTER) for a in arguments[:4])
    size = arguments[4]
    elements = Elements(builder, width)
    field = [elements.splat(argument) for argument in arguments[5:9]]
    is_float = elements.splat(builder.sub(I64(0), arguments[9]))
    xor = builder.icmp_unsigned("!=", elements.splat(arguments[10]), elements.constant(0))
    entry = builder.block
    body, done = builder.append_basic_block("symbols"), builder.append_basic_block("symbols_done")
    builder.cbranch(builder.icmp_signed("<=", I64(elements.lanes), size), body, done)
    builder.position_at_end(body)
    at = builder.phi(I64)
    at.add_incoming(I64(0), entry)
    under = elements.load(base, at)
    residual = elements.residual(elements.load(bits, at), under, is_float, xor)
    elements.store(residual, residuals, at)
    context = builder.shl(elements.context(under, *field), elements.constant(8))
    symbol = builder.or_(context, elements.token(residual, DIRECT_BITS[width]))
    kind = ir.VectorType(I16, elements.lanes)
    narrow = builder.trunc(symbol, kind) if elements.lanes == WIDTH else symbol
    builder.store(narrow, builder.gep(symbols, [at], source_etype=I16), align=1)
    following = builder.add(at, I64(elements.lanes))
    at.add_incoming(following, body)
    builder.cbranch(builder.icmp_signed("<=", builder.add(following, I64(elements.lanes)), size), body, done)
    builder.position_at_end(done)
    result = builder.phi(I64)
    result.add_incoming(I64(0), entry)
    result.add_incoming(following, body)
    return result


@intrinsic(prefer_literal=True)
def _symbols(typing, bits, base, residuals, symbols, size, m, e, lo, hi, is_float, xor, width):  # type: ignore[no-untyped-def]
    return types.int64(*_ARGUMENTS, width), _symbol_lanes


@njit(types.int64(*_ARGUMENTS, _INT), nogil=True, cache=True)
def symbol_lanes(bits, base, residuals, symbols, size, m, e, lo, hi, is_float, xor, width):  # type: ignore[no-untyped-def]
    """Addresses in, the number of elements done out: all that fill a register."""
    if width == 8:
        return _symbols(bits, base, residuals, symbols, size, m, e, lo, hi, is_float, xor, 8)
    if width == 16:
        return _symbols(bits, base, residuals, symbols, size, m, e, lo, hi, is_float, xor, 16)
    return _symbols(bits, base, residuals, symbols, size, m, e, lo, hi, is_float, xor, 32)
