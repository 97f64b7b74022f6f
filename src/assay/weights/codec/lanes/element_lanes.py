"""Elements of a tensor in a vector register, and what is done to them before and after the entropy coder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from assay.weights.codec.lanes.lanes import (
    ELEMENTS,
    I1,
    I8,
    I32,
    I64,
    WIDTH,
    all_lanes,
    function_of,
    halves,
    join_halves,
    splat,
    vector_of,
)
from assay.weights.codec.tokens import DIRECT, DIRECT_BITS, ESCAPE

_FLOAT_BIAS = 127


@dataclass(frozen=True)
class Elements:
    """Elements that fill a register: 32 of up to 16 bits, or 16 of 32 bits.

    `is_float` and `xor` below may be None: then the elements are known to be floats, the residual a difference.
    """

    builder: Any
    width: int

    @property
    def bits(self) -> int:
        return max(self.width, 16)

    @property
    def lanes(self) -> int:
        return WIDTH * 32 // self.bits

    @property
    def kind(self) -> Any:
        return ir.VectorType(ir.IntType(self.bits), self.lanes)

    @property
    def flags(self) -> Any:
        return ir.VectorType(I1, self.lanes)

    def constant(self, value: int) -> Any:
        return ir.Constant(self.kind, [value] * self.lanes)

    def splat(self, value: Any) -> Any:
        return splat(self.builder, value, self.kind)

    def is_flag_set(self, flag: Any) -> Any:
        """Whether a 64-bit number is not 0, in every lane."""
        return self.builder.icmp_unsigned("!=", self.splat(flag), self.constant(0))

    def load(self, start: Any, place: Any) -> Any:
        element = ELEMENTS[self.width]
        at = self.builder.gep(start, [place], source_etype=element)
        found = self.builder.load(at, typ=ir.VectorType(element, self.lanes), align=1)
        return found if self.width == self.bits else self.builder.zext(found, self.kind)

    def load_planes(self, planes: Any, place: Any, stride: Any, count: int) -> Any:
        """Elements of `count` low bytes, each byte from a plane of its own, `stride` bytes apart."""
        builder, rest = self.builder, self.constant(0)
        for number in range(count):
            at = builder.gep(planes, [builder.add(place, builder.mul(stride, I64(number)))], source_etype=I8)
            plane = builder.load(at, typ=ir.VectorType(I8, self.lanes), align=1)
            rest = builder.or_(rest, builder.shl(builder.zext(plane, self.kind), self.constant(8 * number)))
        return rest

    def store_planes(self, value: Any, planes: Any, place: Any, stride: Any, count: int) -> None:
        """Stores the `count` low bytes of the elements as `load_planes` reads them; the bytes above are not stored."""
        builder = self.builder
        for number in range(count):
            at = builder.gep(planes, [builder.add(place, builder.mul(stride, I64(number)))], source_etype=I8)
            plane = builder.lshr(value, self.constant(8 * number))
            builder.store(builder.trunc(plane, ir.VectorType(I8, self.lanes)), at, align=1)

    def store(self, value: Any, start: Any, place: Any) -> None:
        element = ELEMENTS[self.width]
        narrow = value if self.width == self.bits else self.builder.trunc(value, ir.VectorType(element, self.lanes))
        self.builder.store(narrow, self.builder.gep(start, [place], source_etype=element), align=1)

    def context(self, base: Any, mask: Any, below: Any, last: Any) -> Any:
        """The same as `tokens.context_of`, but left at the place of the exponent; so are mask and bounds."""
        builder = self.builder
        name = f"llvm.usub.sat.v{self.lanes}i{self.bits}"
        function = function_of(builder, name, self.kind, [self.kind] * 2)
        above = builder.call(function, [builder.and_(base, mask), below])
        return builder.select(builder.icmp_unsigned("<", above, last), above, last)

    def shift_up(self, value: Any) -> Any:
        """The value in the top bits of a lane, so that the lane's sign is the element's at every width."""
        up = self.bits - self.width
        return self.builder.shl(value, self.constant(up)) if up else value

    def shift_down(self, value: Any) -> Any:
        up = self.bits - self.width
        return self.builder.lshr(value, self.constant(up)) if up else value

    def undo_residual(self, base: Any, residual: Any, xor: Any) -> Any:
        """The bit pattern that has this residual (difference or XOR) with the base."""
        builder = self.builder
        half, odd = builder.lshr(residual, self.constant(1)), builder.trunc(residual, self.flags)
        value = builder.add(base, builder.select(odd, builder.not_(half), half))
        return value if xor is None else builder.select(xor, builder.xor(base, residual), value)

    def residual(self, bits: Any, base: Any, xor: Any) -> Any:
        """The residual of a bit pattern with its base; `undone` takes it back."""
        builder = self.builder
        step = self.shift_up(builder.sub(bits, base))
        sign = builder.ashr(step, self.constant(self.bits - 1))
        zigzag = self.shift_down(builder.xor(builder.shl(step, self.constant(1)), sign))
        return zigzag if xor is None else builder.select(xor, builder.xor(bits, base), zigzag)

    def token(self, residual: Any) -> Any:
        """The same as `tokens.token_of`. Octave and quarter are read off the leading bits of the residual as a
        float."""
        if self.width == 8:
            return residual
        builder, quarters = self.builder, []
        for part in halves(builder, residual, self.lanes // WIDTH):
            as_float = builder.uitofp(part, ir.VectorType(ir.FloatType(), WIDTH))
            quarters.append(builder.lshr(builder.bitcast(as_float, vector_of(I32)), all_lanes(I32, 21)))
        first = 4 * (_FLOAT_BIAS + DIRECT_BITS) - DIRECT
        above = builder.sub(join_halves(builder, quarters), self.constant(first))
        if self.width > 16:
            most = self.constant(ESCAPE)
            above = builder.select(builder.icmp_signed("<", above, most), above, most)
        plain = builder.icmp_unsigned("<", residual, self.constant(DIRECT))
        return builder.select(plain, residual, above)

    def assemble(self, rest: Any, token: Any, is_float: Any) -> Any:
        """The element, from its first byte (`token`) and the others (`rest`); a float was rotated left by one bit."""
        builder, one, last = self.builder, self.constant(1), self.constant(self.bits - 1)
        value = builder.or_(rest, builder.shl(token, self.constant(self.bits - 8)))
        turned = builder.or_(builder.lshr(value, one), builder.shl(value, last))
        if is_float is None:
            return turned
        return builder.select(is_float, turned, value)
