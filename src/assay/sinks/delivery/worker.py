"""`python -m assay.sinks.delivery.worker FOLDER`: started by `Delivery`. The sinks' configuration comes as the first
line of standard input, because it holds secrets; what follows are wake-up calls."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path

from assay.sinks.delivery.delivery_supervisor import DeliverySupervisor
from assay.sinks.delivery.outbox import Outbox
from assay.sinks.spec import SinkSpec
from assay.untrusted.writing import open_append


def main() -> int:
    parser = ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--linger", type=float, default=60.0)
    parser.add_argument("--tries", type=int, default=2)
    args = parser.parse_args()
    outbox = Outbox(args.folder)
    specs = [SinkSpec(**written) for written in json.loads(_first_line(0) or "[]")]
    os.nice(10)
    with open_append(outbox.lock) as lock:
        # The worker of a killed session may still be at it: it ends by itself, and two would deliver twice.
        fcntl.flock(lock, fcntl.LOCK_EX)
        DeliverySupervisor(outbox, specs, args.linger, args.tries).run(news=0)
    return 0


def _first_line(descriptor: int) -> str:
    """The first line, read byte by byte: what follows it must stay in the pipe."""
    line = bytearray()
    while (byte := os.read(descriptor, 1)) not in (b"\n", b""):
        line += byte
    return line.decode()


if __name__ == "__main__":
    sys.exit(main())
