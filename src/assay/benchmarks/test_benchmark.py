"""The smallest real benchmark: sorts lists, times each, writes every kind of result. For trying out a set-up."""

from __future__ import annotations

import random

import assay


def main() -> None:
    with assay.benchmark() as b:
        iterations = b.param("iterations", 100)
        size = b.param("size", 10_000)
        seed = b.param("seed", 0)
        rng = random.Random(seed)
        times: list[float] = []
        for _ in range(iterations):
            numbers = [rng.random() for _ in range(size)]
            began = b.elapsed
            with b.task("sort"):
                numbers.sort()
            times.append(b.elapsed - began)
        b.metric("time_taken_s", b.elapsed, unit="s", better="lower")
        b.metric("iterations_per_s", iterations / sum(times), unit="1/s", better="higher")
        b.metric("sort_s", samples=times, unit="s", better="lower")
        b.metric("num_iterations", iterations, exact=True)


if __name__ == "__main__":
    main()
