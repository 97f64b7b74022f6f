"""Raw bits of 32-bit residuals, 16 at a time: a running sum of their lengths says where each begins.

Written in LLVM's vector operations for the same reason as `rans_lanes`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from assay.weights.codec.rans_lanes import WIDTH, all_lanes, gather_lanes, llvm_function, vector_of

_i8, _i32, _i64 = (ir.IntType(bits) for bits in (8, 32, 64))
_DIRECT = 4
"""Tokens below 2**4 stand for themselves: see `tokens.token_code`."""
_ADDRESS = types.uint64
_SIGNATURE = types.int64(_ADDRESS, _ADDRESS, _ADDRESS, types.int64, types.int64)


def _running_sum(builder: Any, value: Any) -> Any:
    nothing = all_lanes(_i32, 0)
    distance = 1
    while distance < WIDTH:
        order = [WIDTH if lane < distance else lane - distance for lane in range(WIDTH)]
        moved = builder.shuffle_vector(value, nothing, ir.Constant(vector_of(_i32), order))
        value = builder.add(value, moved)
        distance *= 2
    return value


def _splat(builder: Any, value: Any) -> Any:
    first = builder.insert_element(ir.Constant(vector_of(_i32), ir.Undefined), value, _i32(0))
    return builder.shuffle_vector(first, ir.Constant(vector_of(_i32), ir.Undefined), all_lanes(_i32, 0))


def _residual_lanes(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    tokens, words, out = (builder.inttoptr(a, ir.PointerType()) for a in arguments[:3])
    rounds, last = arguments[3:]
    zero = _i64(0)
    entry = builder.block
    body, done = builder.append_basic_block("residuals"), builder.append_basic_block("residuals_done")
    builder.cbranch(builder.icmp_signed(">", rounds, zero), body, done)
    builder.position_at_end(body)
    number, place = builder.phi(_i64), builder.phi(_i64)
    number.add_incoming(zero, entry)
    place.add_incoming(zero, entry)

    at = builder.mul(number, _i64(WIDTH))
    token = builder.load(builder.gep(tokens, [at], source_etype=_i8), typ=vector_of(_i8), align=1)
    token = builder.zext(token, vector_of(_i32))
    direct = builder.icmp_unsigned("<", token, all_lanes(_i32, 1 << _DIRECT))
    octave = builder.lshr(builder.sub(token, all_lanes(_i32, 1 << _DIRECT)), all_lanes(_i32, 2))
    length = builder.add(octave, all_lanes(_i32, _DIRECT - 2))
    # A token that no encoder writes must not shift by more than a word.
    length = builder.select(direct, all_lanes(_i32, 0), builder.and_(length, all_lanes(_i32, 31)))
    head = builder.add(builder.and_(token, all_lanes(_i32, 3)), all_lanes(_i32, 4))
    first = builder.select(direct, token, builder.shl(head, length))

    ends = _running_sum(builder, length)
    inside = builder.trunc(builder.and_(place, _i64(31)), _i32)
    begins = builder.add(builder.sub(ends, length), _splat(builder, inside))
    word = builder.lshr(place, _i64(5))
    word = builder.select(builder.icmp_unsigned("<", word, last), word, last)
    left = _splat(builder, builder.trunc(builder.sub(last, word), _i32))
    index = builder.lshr(begins, all_lanes(_i32, 5))
    index = builder.select(builder.icmp_unsigned("<", index, left), index, left)
    window = builder.gep(words, [word], source_etype=_i32)
    low = gather_lanes(builder, window, index, _i32)
    high = gather_lanes(builder, window, builder.add(index, all_lanes(_i32, 1)), _i32)
    funnel = llvm_function(builder, f"llvm.fshr.v{WIDTH}i32", vector_of(_i32), [vector_of(_i32)] * 3)
    bits = builder.call(funnel, [high, low, builder.and_(begins, all_lanes(_i32, 31))])
    mask = builder.sub(builder.shl(all_lanes(_i32, 1), length), all_lanes(_i32, 1))
    residual = builder.add(first, builder.and_(bits, mask))
    builder.store(residual, builder.gep(out, [at], source_etype=_i32), align=1)

    total = builder.zext(builder.extract_element(ends, _i32(WIDTH - 1)), _i64)
    following, next_place = builder.add(number, _i64(1)), builder.add(place, total)
    number.add_incoming(following, body)
    place.add_incoming(next_place, body)
    builder.cbranch(builder.icmp_signed("<", following, rounds), body, done)
    builder.position_at_end(done)
    result = builder.phi(_i64)
    result.add_incoming(zero, entry)
    result.add_incoming(next_place, body)
    return result


@intrinsic
def _residuals(typing, tokens, words, out, rounds, last):  # type: ignore[no-untyped-def]
    return _SIGNATURE, _residual_lanes


@njit(_SIGNATURE, nogil=True, cache=True)
def residual_lanes(tokens, words, out, rounds, last):  # type: ignore[no-untyped-def]
    """16 residuals a round; the raw bits read. No word beyond `last` + 1 is touched, whatever the tokens say."""
    return _residuals(tokens, words, out, rounds, last)
