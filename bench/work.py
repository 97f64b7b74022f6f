"""So much work and nothing else: `python -I -S work.py 100` does 100 units, a few milliseconds each."""

import sys


def main(units: int) -> int:
    total = 0
    for _ in range(units):
        for i in range(20_000):
            total += i * i % 7
    return total


main(int(sys.argv[1]))
