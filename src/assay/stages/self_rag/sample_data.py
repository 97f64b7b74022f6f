from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from assay.stages.self_rag.question import KnownQuestion, Passage

_FIRST = ("Vel", "Tar", "Bro", "Kes", "Lum", "Or", "Pra", "Sel", "Dun", "Mar", "Hol", "Fen")
_MIDDLE = ("mo", "de", "ri", "ka", "lu", "sta", "ni", "ve")
_LAST = ("ra", "vik", "dal", "mere", "stead", "fort", "minster", "by")
_RIVERS = ("Tesk", "Aune", "Morva", "Ilse", "Gren", "Sorne", "Wey", "Dara")
_GIVEN = ("Ada", "Bruno", "Clara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kaia", "Leon")
_FAMILY = ("Brandt", "Castell", "Dorn", "Eklund", "Ferrari", "Grau", "Hansen", "Ivers", "Jansen", "Kovac", "Lind")
_PRODUCTS = (
    "blue glass",
    "rye bread",
    "wooden clocks",
    "copper kettles",
    "smoked trout",
    "church organs",
    "linen cloth",
    "pear cider",
    "paper lanterns",
    "goat cheese",
    "brass bells",
    "walnut oil",
)
MOST_TOWNS = len(_GIVEN) * len(_FAMILY)
"""Most towns that can be made: each has a mayor of its own, and there are no more names for mayors."""


@dataclass(frozen=True)
class Town:
    number: int
    name: str
    river: str
    mayor: str
    founded: int
    inhabitants: int
    """Number of inhabitants; it stands in the database alone."""
    product: str
    """What it is known for; in the documents alone."""


def towns(count: int, seed: int) -> list[Town]:
    """No two share a name, a mayor or a number of inhabitants, so an answer names its town."""
    rng = Random(f"towns {seed}")
    names = rng.sample([a + b + c for a in _FIRST for b in _MIDDLE for c in _LAST], count)
    mayors = rng.sample([f"{given} {family}" for given in _GIVEN for family in _FAMILY], count)
    inhabitants = rng.sample(range(1_000, 90_000), count)
    return [
        Town(
            n,
            name,
            rng.choice(_RIVERS),
            mayors[n],
            rng.randrange(900, 1900),
            inhabitants[n],
            rng.choice(_PRODUCTS),
        )
        for n, name in enumerate(names)
    ]


def another_product(town: Town) -> str:
    return _PRODUCTS[(_PRODUCTS.index(town.product) + 1) % len(_PRODUCTS)]


@dataclass(frozen=True)
class TownLibrary:
    """All of it: a document for each town, a wrong one beside it, and questions with their answers.

    A wrong document is about another place whose name has the town's name in it: it shares the words of the questions
    and holds none of the answers.
    """

    count: int = 24
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or not 2 <= self.count <= MOST_TOWNS:
            raise ValueError(f"towns must be a whole number from 2 to {MOST_TOWNS}, not {self.count!r}")

    @cached_property
    def towns(self) -> tuple[Town, ...]:
        return tuple(towns(self.count, self.seed))

    @property
    def documents(self) -> list[Passage]:
        """Those with answers and the wrong ones, mixed."""
        found = [document for town in self.towns for document in (_plant(town), self._wrong(town))]
        Random(f"documents {self.seed}").shuffle(found)
        return found

    @property
    def questions(self) -> list[KnownQuestion]:
        """Four for each town: a document has the answer, the database, both, and neither (a sum)."""
        rng = Random(f"questions {self.seed}")
        found = []
        for town in self.towns:
            a, b = rng.randrange(10, 50), rng.randrange(10, 50)
            planted = town_id(town)
            found += [
                KnownQuestion(f"What is the town of {town.name} known for?", (town.product,), planted),
                KnownQuestion(f"How many people live in {town.name}?", (str(town.inhabitants),), row_id(town)),
                KnownQuestion(f"Who is the mayor of {town.name}?", (town.mayor,), planted),
                KnownQuestion(f"What is {a} plus {b}?", (str(a + b),)),
            ]
        return found

    def _wrong(self, town: Town) -> Passage:
        other = self.towns[(town.number + 1) % self.count]
        return Passage(
            wrong_id(town),
            f"New {town.name} is a village far from any town, not to be mistaken for {town.name}. The mayor of New "
            f"{town.name} is {other.mayor}; what people know it for is {another_product(town)}.",
        )


def town_id(town: Town) -> str:
    return f"town-{town.number:03d}"


def wrong_id(town: Town) -> str:
    return f"wrong-{town.number:03d}"


def row_id(town: Town) -> str:
    return f"row-{town.number:03d}"


def _plant(town: Town) -> Passage:
    return Passage(
        town_id(town),
        f"{town.name} is a town on the river {town.river}, founded in {town.founded}. Its mayor is {town.mayor}. It is "
        f"known for its {town.product}.",
    )


def fill(connection: sqlite3.Connection, library: TownLibrary) -> None:
    """Tables of towns and of documents."""
    with connection:
        connection.execute(
            "CREATE TABLE towns (id TEXT PRIMARY KEY, name TEXT, river TEXT, mayor TEXT, founded INTEGER, "
            "inhabitants INTEGER)"
        )
        connection.execute("CREATE TABLE documents (id TEXT PRIMARY KEY, text TEXT)")
        connection.executemany(
            "INSERT INTO towns VALUES (?, ?, ?, ?, ?, ?)",
            [(row_id(t), t.name, t.river, t.mayor, t.founded, t.inhabitants) for t in library.towns],
        )
        connection.executemany("INSERT INTO documents VALUES (?, ?)", [(d.id, d.text) for d in library.documents])


QUESTIONS = "questions.jsonl"
DOCUMENTS = "documents.jsonl"
DATABASE = "towns.sqlite"


def write_files(folder: Path, library: TownLibrary) -> list[Path]:
    """The library as the files that RAGDataLoader, Retriever and SQLiteSearch read; files of before are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    questions, documents, database = (folder / name for name in (QUESTIONS, DOCUMENTS, DATABASE))
    _write_lines(
        questions,
        ({"question": q.text, "answer": list(q.answers), "document": q.document} for q in library.questions),
    )
    _write_lines(documents, ({"id": d.id, "text": d.text} for d in library.documents))
    database.unlink(missing_ok=True)
    connection = sqlite3.connect(database)
    try:
        fill(connection, library)
    finally:
        connection.close()
    return [questions, documents, database]


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
