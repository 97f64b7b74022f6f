"""an entropy coder of 64 interleaved lanes: range asymmetric numeral systems, one symbol a lane a step.

rANS is by Duda (arXiv:1311.2540); interleaving lanes over one stream of 16-bit words, so that a vector unit advances
all of them at once, by Giesen (arXiv:1402.3392). The division of the encoder is a multiplication by a reciprocal,
exact because a state is below 2**32 and a frequency at most 2**12.

The loops are written in LLVM's own vector operations (gather, expanding load, compressing store), because no
compiler finds them by itself. On a processor with AVX-512 they are single instructions; on any other LLVM spells them
out, with the same result.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

PROBABILITY_BITS = 12
PROBABILITY_SUM = 1 << PROBABILITY_BITS
LOWEST_STATE = 1 << 16
WIDTH = 16
VECTORS = 4
LANES = WIDTH * VECTORS
RECIPROCAL_SHIFT = 32 + PROBABILITY_BITS

_i1, _i8, _i16, _i32, _i64 = (ir.IntType(bits) for bits in (1, 8, 16, 32, 64))
_ADDRESS = types.uint64
_ENCODE = types.int64(_ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, types.int64, _ADDRESS)
_DECODE = types.int64(_ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, types.int64, _ADDRESS, types.int64, _ADDRESS)


def vector_of(element: Any) -> Any:
    return ir.VectorType(element, WIDTH)


def all_lanes(element: Any, value: int) -> Any:
    return ir.Constant(vector_of(element), [value] * WIDTH)


def llvm_function(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    known = builder.module.globals
    return known[name] if name in known else ir.Function(builder.module, ir.FunctionType(result, arguments), name)


def gather_lanes(builder: Any, table: Any, index: Any, element: Any) -> Any:
    pointers = ir.VectorType(ir.PointerType(), WIDTH)
    places = builder.gep(table, [index], source_etype=element)
    places.type = pointers  # one address per lane: llvmlite takes the type of the scalar base
    name = f"llvm.masked.gather.v{WIDTH}i{element.width}.v{WIDTH}p0"
    function = llvm_function(builder, name, vector_of(element), [pointers, _i32, vector_of(_i1), vector_of(element)])
    return builder.call(function, [places, _i32(element.width // 8), all_lanes(_i1, 1), all_lanes(element, 0)])


def _count(builder: Any, mask: Any) -> Any:
    function = llvm_function(builder, f"llvm.ctpop.i{WIDTH}", _i16, [_i16])
    return builder.zext(builder.call(function, [builder.bitcast(mask, _i16)]), _i64)


class _Loop:
    """`steps` rounds over all lanes, with the states and the place in the words carried from round to round.

    With a limit it stops early, before a round that begins beyond that place.
    """

    def __init__(self, builder: Any, steps: Any, states: Any, limit: Any = None) -> None:
        self.builder, self._states = builder, states
        zero = _i64(0)
        entry = builder.block
        self._first = [builder.load(self._state(v), typ=vector_of(_i32), align=1) for v in range(VECTORS)]
        body, self._done = builder.append_basic_block("lanes"), builder.append_basic_block("lanes_done")
        self._steps, self._limit = steps, limit
        builder.cbranch(self._goes_on(zero, zero), body, self._done)
        builder.position_at_end(body)
        self.round, self.place = builder.phi(_i64), builder.phi(_i64)
        self.round.add_incoming(zero, entry)
        self.place.add_incoming(zero, entry)
        self.states = [builder.phi(vector_of(_i32)) for _ in range(VECTORS)]
        for phi, first in zip(self.states, self._first, strict=True):
            phi.add_incoming(first, entry)
        self._entry, self._body = entry, body

    def _goes_on(self, following: Any, place: Any) -> Any:
        more = self.builder.icmp_signed("<", following, self._steps)
        if self._limit is None:
            return more
        return self.builder.and_(more, self.builder.icmp_signed("<=", place, self._limit))

    def _state(self, vector: int) -> Any:
        return self.builder.gep(self._states, [_i64(4 * WIDTH * vector)], source_etype=_i8)

    def end(self, place: Any, states: list[Any], rounds: Any = None) -> Any:
        """The place after the last round; how many rounds there were is stored at `rounds`."""
        builder = self.builder
        following = builder.add(self.round, _i64(1))
        self.round.add_incoming(following, self._body)
        self.place.add_incoming(place, self._body)
        for phi, state in zip(self.states, states, strict=True):
            phi.add_incoming(state, self._body)
        builder.cbranch(self._goes_on(following, place), self._body, self._done)
        builder.position_at_end(self._done)
        result = builder.phi(_i64)
        result.add_incoming(_i64(0), self._entry)
        result.add_incoming(place, self._body)
        completed = builder.phi(_i64)
        completed.add_incoming(_i64(0), self._entry)
        completed.add_incoming(following, self._body)
        finals = [builder.phi(vector_of(_i32)) for _ in states]
        for vector, final in enumerate(finals):
            final.add_incoming(self._first[vector], self._entry)
            final.add_incoming(states[vector], self._body)
        for vector, final in enumerate(finals):
            builder.store(final, self._state(vector), align=1)
        if rounds is not None:
            builder.store(completed, rounds, align=1)
        return result


def _decode_lanes(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    words, table, contexts, tokens = (builder.inttoptr(a, ir.PointerType()) for a in arguments[:4])
    states_at, rounds_at = (builder.inttoptr(arguments[i], ir.PointerType()) for i in (5, 7))
    loop = _Loop(builder, arguments[4], states_at, limit=arguments[6])
    expand = llvm_function(
        builder, "llvm.masked.expandload.v16i16", vector_of(_i16), [ir.PointerType(), vector_of(_i1), vector_of(_i16)]
    )
    place, states = loop.place, []
    for vector, state in enumerate(loop.states):
        element = builder.add(builder.mul(loop.round, _i64(LANES)), _i64(WIDTH * vector))
        context = builder.load(builder.gep(contexts, [element], source_etype=_i8), typ=vector_of(_i8), align=1)
        slot = builder.or_(
            builder.and_(state, all_lanes(_i32, PROBABILITY_SUM - 1)),
            builder.shl(builder.zext(context, vector_of(_i32)), all_lanes(_i32, PROBABILITY_BITS)),
        )
        # An entry of the table is the token (8 bits), its frequency less one (12) and the slot's offset in it (12).
        found = gather_lanes(builder, table, slot, _i32)
        frequency = builder.add(
            builder.and_(builder.lshr(found, all_lanes(_i32, 12)), all_lanes(_i32, 0xFFF)), all_lanes(_i32, 1)
        )
        state = builder.add(
            builder.mul(builder.lshr(state, all_lanes(_i32, PROBABILITY_BITS)), frequency),
            builder.and_(found, all_lanes(_i32, 0xFFF)),
        )
        refill = builder.icmp_unsigned("<", state, all_lanes(_i32, LOWEST_STATE))
        more = builder.call(expand, [builder.gep(words, [place], source_etype=_i16), refill, all_lanes(_i16, 0)])
        filled = builder.or_(builder.shl(state, all_lanes(_i32, 16)), builder.zext(more, vector_of(_i32)))
        states.append(builder.select(refill, filled, state))
        place = builder.add(place, _count(builder, refill))
        token = builder.trunc(builder.lshr(found, all_lanes(_i32, 24)), vector_of(_i8))
        builder.store(token, builder.gep(tokens, [element], source_etype=_i8), align=1)
    return loop.end(place, states, rounds_at)


def _encode_lanes(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    symbols, ranges, reciprocals, words = (builder.inttoptr(a, ir.PointerType()) for a in arguments[:4])
    steps = arguments[4]
    loop = _Loop(builder, steps, builder.inttoptr(arguments[5], ir.PointerType()))
    compress = llvm_function(
        builder, "llvm.masked.compressstore.v16i16", ir.VoidType(), [vector_of(_i16), ir.PointerType(), vector_of(_i1)]
    )
    backwards = builder.sub(builder.sub(steps, _i64(1)), loop.round)
    place, states = loop.place, list(loop.states)
    for vector in reversed(range(VECTORS)):
        state = loop.states[vector]
        element = builder.add(builder.mul(backwards, _i64(LANES)), _i64(WIDTH * vector))
        symbol = builder.load(builder.gep(symbols, [element], source_etype=_i16), typ=vector_of(_i16), align=1)
        symbol = builder.zext(symbol, vector_of(_i32))
        span = gather_lanes(builder, ranges, symbol, _i32)
        reciprocal = gather_lanes(builder, reciprocals, symbol, _i64)
        frequency, start = builder.lshr(span, all_lanes(_i32, 16)), builder.and_(span, all_lanes(_i32, 0xFFFF))
        spill = builder.icmp_unsigned(">=", builder.lshr(state, all_lanes(_i32, 32 - PROBABILITY_BITS)), frequency)
        place = builder.sub(place, _count(builder, spill))
        low = builder.trunc(state, vector_of(_i16))
        builder.call(compress, [low, builder.gep(words, [place], source_etype=_i16), spill])
        state = builder.select(spill, builder.lshr(state, all_lanes(_i32, 16)), state)
        product = builder.mul(builder.zext(state, vector_of(_i64)), reciprocal)
        quotient = builder.trunc(builder.lshr(product, all_lanes(_i64, RECIPROCAL_SHIFT)), vector_of(_i32))
        rest = builder.sub(state, builder.mul(quotient, frequency))
        states[vector] = builder.add(builder.shl(quotient, all_lanes(_i32, PROBABILITY_BITS)), builder.add(rest, start))
    return loop.end(place, states)


@intrinsic
def _decode(typing, words, table, contexts, tokens, steps, states, limit, rounds):  # type: ignore[no-untyped-def]
    return _DECODE, _decode_lanes


@intrinsic
def _encode(typing, symbols, ranges, reciprocals, words, steps, states):  # type: ignore[no-untyped-def]
    return _ENCODE, _encode_lanes


@njit(_DECODE, nogil=True, cache=True)
def decode_lanes(words, table, contexts, tokens, steps, states, limit, rounds):  # type: ignore[no-untyped-def]
    """Addresses in, the number of words read out. Stops before a round that begins beyond word `limit`."""
    return _decode(words, table, contexts, tokens, steps, states, limit, rounds)


@njit(_ENCODE, nogil=True, cache=True)
def encode_lanes(symbols, ranges, reciprocals, words, steps, states):  # type: ignore[no-untyped-def]
    """Writes words downwards from the address `words`; minus the number written."""
    return _encode(symbols, ranges, reciprocals, words, steps, states)
