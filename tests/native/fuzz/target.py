from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent


class Target(ABC):
    """A file format that the compiled library reads: a C program that libFuzzer drives, and an oracle in Python."""

    name: str
    words: tuple[str, ...] = ()
    """Pieces of the format, for the fuzzer's dictionary."""
    longest: int = 4096
    """Bytes of an input."""

    @property
    def source(self) -> Path:
        return HERE / "targets" / f"{self.name}.c"

    @property
    def found(self) -> Path:
        """Inputs that showed something once, as hexadecimal text; they are replayed by the tests."""
        return HERE / "found" / self.name

    @abstractmethod
    def seeds(self) -> Iterator[bytes]:
        """Good inputs to begin with."""

    @abstractmethod
    def difference(self, data: bytes) -> str | None:
        """What the library and plain Python disagree about on this input, or None."""

    def replayed(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.found.glob("*.hex")):
            yield path.stem, bytes.fromhex(path.read_text(encoding="ascii"))


def save(folder: Path, data: bytes) -> Path:
    """An input as a text file named by its content."""
    from hashlib import sha256

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{sha256(data).hexdigest()[:12]}.hex"
    digits = data.hex()
    path.write_text("\n".join(digits[at : at + 100] for at in range(0, len(digits), 100)) + "\n", encoding="ascii")
    return path
