from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import DataError, UsageError
from assay.untrusted.read_limit import MB, NAMED
from assay.untrusted.regular_file import RegularFile

if TYPE_CHECKING:  # Words are checked before a session is made, where numpy would cost a tenth of a second.
    import numpy as np

    from assay.loadgen.measured import Ints

LONGEST = 10_000_000
_FORMS = "N, LOW-HIGH, normal:MEAN,DEVIATION or file:PATH (a number a line)"


@dataclass(frozen=True)
class TokenLengths:
    """A distribution of lengths in tokens: fixed, uniform, normal (rounded, at least 1), or drawn from a file."""

    words: str
    kind: str
    first: float = 0.0
    second: float = 0.0
    values: tuple[int, ...] = ()

    @classmethod
    def parse(cls, words: str, option: str) -> TokenLengths:
        kind, _, rest = words.partition(":") if ":" in words else ("fixed", "", words)
        if kind == "file":
            return cls(words, kind, values=_read(Path(rest)))
        if kind == "fixed" and "-" in rest:
            kind, rest = "uniform", rest.replace("-", ",", 1)
        try:
            numbers = [float(number) for number in rest.split(",")]
        except ValueError:
            numbers = []
        wanted = {"fixed": 1, "uniform": 2, "normal": 2}.get(kind)
        if wanted is None or len(numbers) != wanted:
            raise UsageError(f"{option} {words!r} is no length in tokens: give {_FORMS}")
        first, second = numbers[0], numbers[-1]
        if not 1 <= first <= LONGEST or not 0 <= second <= LONGEST or (kind == "uniform" and second < first):
            raise UsageError(f"{option} {words!r}: lengths lie between 1 and {LONGEST} tokens: give {_FORMS}")
        return cls(words, kind, first, second)

    def draw(self, rng: np.random.Generator, count: int) -> Ints:
        import numpy as np

        if self.kind == "uniform":
            return rng.integers(int(self.first), int(self.second) + 1, count)
        if self.kind == "normal":
            return np.clip(np.rint(rng.normal(self.first, self.second, count)), 1, LONGEST).astype(np.int64)
        if self.kind == "file":
            return rng.choice(np.asarray(self.values, np.int64), count)
        return np.full(count, int(self.first), np.int64)


def _read(path: Path) -> tuple[int, ...]:
    found = []
    try:
        with RegularFile(path, NAMED) as file:
            for number, line in enumerate(file.lines(MB), 1):
                if not line.strip():
                    continue
                if not line.strip().isdigit() or not 1 <= int(line) <= LONGEST:
                    raise DataError(f"{path}:{number}: {line.strip()[:40]!r} is no length in tokens (1 to {LONGEST})")
                found.append(int(line))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file of lengths") from None
    if not found:
        raise DataError(f"{path}: there is no length in it")
    return tuple(found)
