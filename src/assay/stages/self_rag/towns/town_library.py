from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random

from assay.stages.self_rag.asked.known_question import KnownQuestion
from assay.stages.self_rag.asked.passage import Passage
from assay.stages.self_rag.towns.town import MOST_TOWNS, Town, another_product, towns


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
