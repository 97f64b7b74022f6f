"""Stages for the tests of load generation, found by dotted path too."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from assay.pipeline.stage import Routed, RouterStage, Stage, StreamStage


class Add(Stage[int, int]):
    def __init__(self, amount: int = 1) -> None:
        self.amount = amount

    def process(self, data: int) -> int:
        return data + self.amount


class Remember(Stage[Any, Any]):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def process(self, data: Any) -> Any:
        self.seen.append(data)
        return data


class Append(Stage[list[str], list[str]]):
    """Changes what it was given, as careless stages do."""

    def __init__(self, word: str) -> None:
        self.word = word

    def process(self, data: list[str]) -> list[str]:
        data.append(self.word)
        return data


class ListOf(Stage[int, list[str]]):
    def process(self, data: int) -> list[str]:
        return [str(data)]


class EvenOdd(RouterStage[int, int]):
    def __init__(self, even: str = "even") -> None:
        self.even = even

    def process(self, data: int) -> Routed[int]:
        return Routed(data, (self.even if data % 2 == 0 else "odd",))


class Retry(RouterStage[int, int]):
    """Asks for another round until a payload has grown to its limit."""

    def __init__(self, back: str, on: str, until: int) -> None:
        self.back, self.on, self.until = back, on, until

    def process(self, data: int) -> Routed[int]:
        return Routed(data, (self.on if data >= self.until else self.back,))


class Lost(RouterStage[int, int]):
    def process(self, data: int) -> Routed[int]:
        return Routed(data, ("nowhere",))


class Count(StreamStage[int, int]):
    def process(self, data: int) -> Iterator[int]:
        time.sleep(0.002)
        for n in range(3):
            yield n
            time.sleep(0.001)


class WhichProcess(Stage[Any, int]):
    def process(self, data: Any) -> int:
        return os.getpid()


class Data(Stage[int, int]):
    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def process(self, data: int) -> int:
        return data


class Fragile(Stage[int, int]):
    def __init__(self, bad: int) -> None:
        self.bad = bad

    def process(self, data: int) -> int:
        if data == self.bad:
            raise RuntimeError("broken")
        return data
