"""Text of a wanted length in tokens.

Without a tokenizer a token is one common English word: short words with a space before them are one token each for the
byte-pair tokenizers in use. What the server counts (`usage`) is reported beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import DataError, MissingExtra, UsageError
from assay.files.reading import MB, NAMED, RegularFile

if TYPE_CHECKING:
    import numpy as np

    from assay.loadgen.load_result import Ints


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


_TEXT = (
    "the of and to in is that it was for on are as with his they at be this from have or by one had not but what "
    "all were when we there can an your which their said if do will each about how up out them then she many some "
    "so these would other into has more her two like him see time could no make than first been its who now "
    "people my made over did down only way find use may water long little very after words called just where most "
    "know get through back much before go good new write our used me man too any day same right look think also "
    "around another came come work three word must because does part even place well such here take why things "
    "help put years different away again off went old number great tell men say small every found still between "
    "name should home big give air line set own under read last never us left end along while might next sound "
    "below saw something thought both few those always looked show large often together asked house world going "
    "want school important until form food keep children feet land side without boy once animals life enough took "
    "sometimes four head above kind began almost live page got earth need far hand high year mother light parts "
    "country father let night following picture being study second eyes soon times story boys since white days "
    "ever paper hard near sentence better best across during today others however sure means knew try told young "
    "miles sun ways thing whole hear example heard several change answer room sea against top turned learn point "
    "city play toward five using himself usually"
)
_WORDS = _TEXT.split()


class TokenText(ABC):
    """Makes and counts tokens."""

    name: str

    @abstractmethod
    def make(self, rng: np.random.Generator, tokens: int) -> str: ...

    def make_many(self, rng: np.random.Generator, lengths: Sequence[int]) -> list[str]:
        return [self.make(rng, tokens) for tokens in lengths]

    @abstractmethod
    def count(self, texts: Sequence[str]) -> list[int]: ...

    def start(self, text: str, tokens: int) -> str:
        """The first tokens of a text."""
        return " ".join(text.split()[:tokens])


class WordText(TokenText):
    name = "one word a token"

    def make(self, rng: np.random.Generator, tokens: int) -> str:
        return self.make_many(rng, [tokens])[0]

    def make_many(self, rng: np.random.Generator, lengths: Sequence[int]) -> list[str]:
        """All words are drawn at once: prompts of a large load must not take as long as the load."""
        words = [_WORDS[place] for place in rng.integers(0, len(_WORDS), sum(lengths)).tolist()]
        ends = list(accumulate(lengths))
        return [" ".join(words[end - length : end]) for length, end in zip(lengths, ends, strict=True)]

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


class TokenizerText(TokenText):
    """Tokens of a `tokenizer.json`, as the model's own folder has it."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._tokenizer = _load(path)
        self._words = WordText()

    def make(self, rng: np.random.Generator, tokens: int) -> str:
        """Words cut to the wanted number of tokens. Cutting may join two at the end: then one more or less is tried."""
        text = self._words.make(rng, tokens)
        while len(self._ids(text)) < tokens:
            text += " " + self._words.make(rng, tokens)
        ids = self._ids(text)
        for more in (0, 1, -1, 2):
            cut = str(self._tokenizer.decode(ids[: tokens + more]))
            if len(self._ids(cut)) == tokens:
                return cut
        return str(self._tokenizer.decode(ids[:tokens]))

    def start(self, text: str, tokens: int) -> str:
        return str(self._tokenizer.decode(self._ids(text)[:tokens]))

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(found.ids) for found in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids


def _load(path: Path) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra("tokenizers, which reads tokenizer.json,", "llm") from None
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise DataError(f"{file}: no such file; --tokenizer takes a tokenizer.json, or the folder that has one")
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # noqa: BLE001 - the library raises nothing narrower
        raise DataError(f"{file}: is no tokenizer: {error}") from None
