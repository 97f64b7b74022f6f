"""Codes symbols as words, in one loop over all lanes, backwards: what is read last is written first."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.cgutils import unpack_tuple
from numba.extending import intrinsic

from assay.weights.codec.frequency_table import ENCODER_ESCAPED_AT, ENCODER_NOISE_AT, FREQUENCY_AT, START_AT
from assay.weights.codec.vector_operations import (
    AHEAD,
    ELEMENTS,
    FIXED,
    I16,
    I32,
    I64,
    LANES,
    MORE_LANES,
    NOISE,
    POINTER,
    PROBABILITY_BITS,
    PROBABILITY_SUM,
    STATE_BITS,
    WIDTH,
    Elements,
    Loop,
    all_lanes,
    compress_words,
    count,
    gather_pairs,
    halves,
    is_bit_set,
    load,
    look_up,
    note,
    prefetch,
    wide_halves,
    wide_joined,
    wide_lanes,
)

# Makes residuals and symbols of elements and their bases, a register at a time.

_ADDRESS, _INT = types.uint64, types.int64
_SYMBOL_ARGUMENTS = (*[_ADDRESS] * 5, *[_INT] * 7)


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


@njit(types.int64(*_SYMBOL_ARGUMENTS, _INT, _INT), nogil=True, cache=True)
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


_ARGUMENTS = (*[_ADDRESS] * 3, _INT, _ADDRESS)
_ONE = all_lanes(I32, 1)


class SpilledWords:
    """Words that all vectors write to, in turn, downwards."""

    def __init__(self, builder: Any, words: Any, place: Any) -> None:
        self.builder, self._words, self.place = builder, words, place

    def put(self, value: Any, mask: Any) -> None:
        """Writes the low words of the lanes of the mask, below those written before."""
        self.place = self.builder.sub(self.place, count(self.builder, mask))
        compress_words(self.builder, value, self._words, self.place, mask)

    def spill(self, state: Any, full: Any) -> Any:
        self.put(state, full)
        return self.builder.select(full, self.builder.lshr(state, all_lanes(I32, 16)), state)


def _encode_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    together = signature.args[1].literal_value
    arguments = unpack_tuple(builder, given[0])
    symbols_at, ranges, words_at = (builder.inttoptr(address, POINTER) for address in arguments[:3])
    steps, states_at = arguments[3], builder.inttoptr(arguments[4], POINTER)
    loop = Loop(builder, MORE_LANES, steps, states_at)
    words = SpilledWords(builder, words_at, loop.place)
    start = builder.mul(builder.sub(builder.sub(steps, I64(1)), loop.round), I64(MORE_LANES))
    places = [builder.add(start, I64(first)) for first in range(0, MORE_LANES, together * WIDTH)]
    symbols = [part for at in places for part in load(builder, symbols_at, I16, at, together)]
    found = [found_in(builder, ranges, symbol) for symbol in symbols]
    states = list(loop.states)
    for v in reversed(range(len(states))):
        states[v] = with_symbol(words, states[v], *found[v], None)
    return loop.end(words.place, states)


def found_in(builder: Any, ranges: Any, symbol: Any) -> tuple[Any, Any]:
    """The symbols' entries in the table of `frequency_table.fill_encoder`: those of the even lanes and those of the odd
    ones, 64 bits each; and the low halves of all."""
    pair = gather_pairs(builder, ranges, symbol)
    return pair, wide_joined(builder, *pair)


def with_symbol(words: SpilledWords, state: Any, found: tuple[Any, Any], span: Any, residual: Any) -> Any:
    """The state with a token in it, and the noise of its residual if there is one."""
    builder = words.builder
    frequency = builder.lshr(span, all_lanes(I32, FREQUENCY_AT))
    start = builder.and_(builder.lshr(span, all_lanes(I32, START_AT)), all_lanes(I32, PROBABILITY_SUM - 1))
    room = all_lanes(I32, STATE_BITS - PROBABILITY_BITS)
    if residual is None:
        state = words.spill(state, builder.icmp_unsigned(">=", builder.lshr(state, room), frequency))
    else:
        length = builder.and_(builder.lshr(span, all_lanes(I32, ENCODER_NOISE_AT)), all_lanes(I32, 15))
        top = builder.lshr(state, builder.sub(room, length))
        state = words.spill(state, builder.icmp_unsigned(">=", top, frequency))
        mask = builder.sub(builder.shl(_ONE, length), _ONE)
        state = builder.or_(builder.shl(state, length), builder.and_(residual, mask))
    quotient = _quotient(builder, state, found)
    rest = builder.sub(state, builder.mul(quotient, frequency))
    return builder.add(builder.shl(quotient, all_lanes(I32, PROBABILITY_BITS)), builder.add(rest, start))


def _quotient(builder: Any, state: Any, found: tuple[Any, Any]) -> Any:
    """The state over the frequency: times its reciprocal, shifted. Even and odd lanes apart, as processors multiply."""
    products = []
    for part, entry in zip(wide_halves(builder, state), found, strict=True):
        by = builder.add(builder.and_(entry, wide_lanes(15)), wide_lanes(STATE_BITS))
        products.append(builder.lshr(builder.mul(part, builder.lshr(entry, wide_lanes(32))), by))
    return wide_joined(builder, *products)


@intrinsic(prefer_literal=True)
def _encode(typing, arguments, together):  # type: ignore[no-untyped-def]
    return types.int64(arguments, together), _encode_lanes


@njit(types.int64(*_ARGUMENTS, _INT), nogil=True, cache=True)
def encode_lanes(symbols, ranges, words, steps, states, width):  # type: ignore[no-untyped-def]
    """Addresses in, minus the number of words out, which are written downwards from the address `words`. For tokens
    without noise, in the order in which elements of `width` bits fill lanes."""
    arguments = (symbols, ranges, words, steps, states)
    return _encode(arguments, 1) if width == 32 else _encode(arguments, 2)


# Codes elements and their bases as words, in one loop over all lanes, backwards: residual, context, and their code.

_DIFFERENCE_ARGUMENTS = (*[_ADDRESS] * 7, *[_INT] * 7)


def _difference_lanes(_numba: Any, builder: Any, signature: Any, given: Any) -> Any:
    width, content, planes, may_be_xor = (argument.literal_value for argument in signature.args[1:])
    arguments = unpack_tuple(builder, given[0])
    bits, base, low, table, words_at, notes, states_at = (builder.inttoptr(a, POINTER) for a in arguments[:7])
    steps, stride, exponent_at = arguments[7:10]
    elements = Elements(builder, width)
    field = [elements.splat(builder.shl(argument, exponent_at)) for argument in arguments[10:13]]
    xor = elements.is_flag_set(arguments[13]) if may_be_xor else None
    lengths = elements.load(table, I64(0)) if content == FIXED else None
    loop = Loop(builder, LANES, steps, states_at)
    words = SpilledWords(builder, words_at, loop.place)
    turn = builder.sub(builder.sub(steps, I64(1)), loop.round)
    together = elements.lanes // WIDTH
    ahead = builder.sub(builder.mul(turn, I64(LANES)), I64(AHEAD * 8 // width))
    for source in (bits, base):
        prefetch(builder, source, ahead, LANES, ELEMENTS[width])
    codes: list[Any] = []
    residuals: list[Any] = []
    for first in range(0, LANES // WIDTH, together):
        at = builder.add(builder.mul(turn, I64(LANES)), I64(WIDTH * first))
        under = elements.load(base, at)
        residual = elements.residual(elements.load(bits, at), under, xor)
        elements.store_planes(residual, low, at, stride, planes)
        residual = builder.lshr(residual, elements.constant(8 * planes))
        code = builder.lshr(elements.context(under, *field), elements.splat(exponent_at))
        if content == FIXED:
            code = look_up(builder, lengths, code)
        else:
            code = builder.or_(builder.shl(code, elements.constant(8)), elements.token(residual))
        codes += halves(builder, code, together)
        residuals += halves(builder, residual, together)
    states = list(loop.states)
    if content == FIXED:
        for v in reversed(range(len(states))):
            states[v] = _with_bits(words, states[v], codes[v], residuals[v])
        return loop.end(words.place, states)
    found = [found_in(builder, table, code) for code in codes]
    for v, (_, span) in enumerate(found):
        place = builder.add(builder.mul(turn, I64(LANES // WIDTH)), I64(v))
        note(builder, is_bit_set(builder, span, ENCODER_ESCAPED_AT), notes, place)
    for v in reversed(range(len(states))):
        states[v] = with_symbol(words, states[v], *found[v], residuals[v])
    return loop.end(words.place, states)


def _with_bits(words: SpilledWords, state: Any, length: Any, residual: Any) -> Any:
    """The state with `length` more bits: the residual; or, if it does not fit, all bits set and the residual as a
    word."""
    builder = words.builder
    top = builder.lshr(state, builder.sub(all_lanes(I32, STATE_BITS), length))
    state = words.spill(state, builder.icmp_unsigned("!=", top, all_lanes(I32, 0)))
    mask = builder.sub(builder.shl(_ONE, length), _ONE)
    escaped = builder.icmp_unsigned(">=", residual, mask)
    words.put(residual, escaped)
    return builder.or_(builder.shl(state, length), builder.select(escaped, mask, residual))


@intrinsic(prefer_literal=True)
def _encode_difference(typing, arguments, width, content, planes, may_be_xor):  # type: ignore[no-untyped-def]
    return types.int64(arguments, width, content, planes, may_be_xor), _difference_lanes


@njit(
    types.int64(*_DIFFERENCE_ARGUMENTS, _INT, _INT, _INT),
    nogil=True,
    cache=True,
)
def difference_lanes(  # type: ignore[no-untyped-def]
    bits, base, low, table, words, notes, states, steps, stride, m, e, lo, hi, xor, width, content, planes
):
    """Addresses in, minus the number of words out, which are written downwards from the address `words`.

    The `planes` lowest bytes of the residuals go to `low`, a plane each, `stride` bytes apart. What is above them is
    coded by `table`: ranges, see `frequency_table.fill_encoder`; or, at fixed lengths, the length of each context, as
    elements. `notes` is set to which lanes had escapes, see `escapes`. `m`, `e`, `lo`, `hi`: see `tokens.context_of`.
    """
    arguments = (bits, base, low, table, words, notes, states, steps, stride, m, e, lo, hi, xor)
    if content == FIXED:
        return (
            _encode_difference(arguments, 16, FIXED, 0, False)
            if width == 16
            else _encode_difference(arguments, 32, FIXED, 2, False)
        )
    if width == 16:
        return (
            _encode_difference(arguments, 16, NOISE, 0, True)
            if xor
            else _encode_difference(arguments, 16, NOISE, 0, False)
        )
    if planes == 2:
        return (
            _encode_difference(arguments, 32, NOISE, 2, True)
            if xor
            else _encode_difference(arguments, 32, NOISE, 2, False)
        )
    if planes == 1:
        return (
            _encode_difference(arguments, 32, NOISE, 1, True)
            if xor
            else _encode_difference(arguments, 32, NOISE, 1, False)
        )
    return (
        _encode_difference(arguments, 32, NOISE, 0, True) if xor else _encode_difference(arguments, 32, NOISE, 0, False)
    )
