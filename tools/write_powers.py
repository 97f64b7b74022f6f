"""Writes the table of powers of ten that floats are printed with: `python -m tools.write_powers`.

It is made with exact integers, and kept among the C sources, which then compile as they are.
"""

from __future__ import annotations

from pathlib import Path

TABLE = Path(__file__).parents[1] / "src" / "assay" / "native" / "c" / "alm" / "powers.h"
LEAST, MOST = -292, 324


def powers() -> str:
    rows = [f"    {{{high:#018x}, {low:#018x}}}, /* {exponent} */\n" for exponent, high, low in _significands()]
    return (
        f"/* Powers of ten from {LEAST} to {MOST}: 128-bit significands, rounded up (tools/write_powers.py). */\n"
        "#pragma once\n"
        "#include <stdint.h>\n\n"
        f"#define POWERS_ZERO {-LEAST}\n"
        f"static const uint64_t POWERS[{MOST - LEAST + 1}][2] = {{\n{''.join(rows)}}};\n"
    )


def _significands() -> list[tuple[int, int, int]]:
    found = []
    for exponent in range(LEAST, MOST + 1):
        shift = ((exponent * 1741647) >> 19) - 127
        above, below = (10**exponent, 1) if exponent >= 0 else (1, 10**-exponent)
        above, below = (above, below << shift) if shift >= 0 else (above << -shift, below)
        significand = -(-above // below)
        found.append((exponent, significand >> 64, significand & (2**64 - 1)))
    return found


if __name__ == "__main__":
    TABLE.write_text(powers())
