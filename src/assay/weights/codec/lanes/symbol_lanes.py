"""Makes residuals and symbols of elements and their bases, a register at a time."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.lanes.element_lanes import Elements
from assay.weights.codec.lanes.lanes import I16, I64, POINTER, WIDTH

_ADDRESS, _INT = types.uint64, types.int64
_ARGUMENTS = (*[_ADDRESS] * 5, *[_INT] * 7)


def _symbol_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    width, planes, may_be_xor = (argument.literal_value for argument in signature.args[1:])
    arguments = unpack_tuple(builder, given[0])
    bits, base, residuals, symbols, low = (builder.inttoptr(a, POINTER) for a in arguments[:5])
    size, stride = arguments[5:7]
    elements = Elements(builder, width)
    field = [elements.splat(builder.shl(argument, arguments[7])) for argument in arguments[8:11]]
    exponent_at = elements.splat(arguments[7])
    xor = elements.is_flag_set(arguments[11]) if may_be_xor else None
    entry = builder.block
    body, done = builder.append_basic_block("symbols"), builder.append_basic_block("symbols_done")
    builder.cbranch(builder.icmp_signed("<=", I64(elements.lanes), size), body, done)
    builder.position_at_end(body)
    at = builder.phi(I64)
    at.add_incoming(I64(0), entry)
    under = elements.load(base, at)
    residual = elements.residual(elements.load(bits, at), under, xor)
    elements.store_planes(residual, low, at, stride, planes)
    residual = builder.lshr(residual, elements.constant(8 * planes))
    elements.store(residual, residuals, at)
    context = builder.shl(builder.lshr(elements.context(under, *field), exponent_at), elements.constant(8))
    symbol = builder.or_(context, elements.token(residual))
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
def _symbols(typing, arguments, width, planes, may_be_xor):  # type: ignore[no-untyped-def]
    return types.int64(arguments, width, planes, may_be_xor), _symbol_lanes


@njit(types.int64(*_ARGUMENTS, _INT, _INT), nogil=True, cache=True)
def symbol_lanes(bits, base, residuals, symbols, low, size, stride, m, e, lo, hi, xor, width, planes):  # type: ignore[no-untyped-def]
    """Addresses in, the number of elements done out: as many as fill whole registers. The `planes` lowest bytes of the
    residuals go to `low`, a plane each, `stride` bytes apart; the symbols are those of what is above."""
    arguments = (bits, base, residuals, symbols, low, size, stride, m, e, lo, hi, xor)
    if width == 8:
        return _symbols(arguments, 8, 0, True)
    if width == 16:
        return _symbols(arguments, 16, 0, True) if xor else _symbols(arguments, 16, 0, False)
    if planes == 2:
        return _symbols(arguments, 32, 2, True) if xor else _symbols(arguments, 32, 2, False)
    if planes == 1:
        return _symbols(arguments, 32, 1, True) if xor else _symbols(arguments, 32, 1, False)
    return _symbols(arguments, 32, 0, True) if xor else _symbols(arguments, 32, 0, False)
