"""`python -m campaign --minutes 5 [--kind NAME]… [--seed N] [--hits 200]`; see `make torture`."""

from __future__ import annotations

import argparse
import sys
import time

from campaign.kinds import KINDS
from campaign.turns import Turns


def main() -> int:
    parser = argparse.ArgumentParser(prog="make torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this one; may be repeated")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first turn; default: the time")
    parser.add_argument("--turn", type=float, help="seconds of a turn; default: a twentieth of the time, 2 to 20")
    parser.add_argument("--hits", type=int, help="end after so many kills, stops and interrupts")
    asked = parser.parse_args()
    print(f"torture for {asked.minutes:g} min, seed {asked.seed}: {', '.join(asked.kind or KINDS)}", flush=True)
    turns = Turns(asked.kind or list(KINDS), asked.seed, asked.minutes * 60, asked.turn, asked.hits)
    turns.run()
    print(turns.table(), flush=True)
    return 1 if turns.findings else 0


if __name__ == "__main__":
    sys.exit(main())
