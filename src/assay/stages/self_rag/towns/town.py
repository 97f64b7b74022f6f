from __future__ import annotations

from dataclasses import dataclass
from random import Random

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
