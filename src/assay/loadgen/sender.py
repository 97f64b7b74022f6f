"""The sender: a process that does nothing but send each query at its time.

    python -S -m assay.loadgen.sender CHANNEL EVENT_FD

It has an interpreter of its own, so a stage that holds the pipeline's cannot delay a send. Only the standard library
is imported; the schedule was drawn by the pipeline and lies in the channel.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic_ns, sleep

from assay.loadgen.channel import (
    COMPLETED,
    DEPTH,
    DRAWN,
    FINISHED,
    HEAD,
    HELD,
    READY,
    START_AT,
    STOP,
    WAITING,
    Channel,
)
from assay.loadgen.pacing import Pacer, end_with_parent, precise_timers


def send(channel: Channel, event: int) -> None:
    page, arrivals, sent = channel.page, channel.arrivals, channel.sent
    pacer = Pacer()
    depth = page[DEPTH] or len(arrivals) + 1
    for query in range(len(arrivals)):
        while page[DRAWN] <= query and not page[STOP]:
            sleep(100e-6)
        now = pacer.wait_until(page[START_AT] + arrivals[query], page, STOP)
        if query - page[COMPLETED] >= depth:
            page[HELD] += 1
            while query - page[COMPLETED] >= depth and not page[STOP]:
                sleep(20e-6)
            now = monotonic_ns()
        if page[STOP]:
            break
        sent[query] = now
        page[HEAD] = query + 1
        if page[WAITING]:
            page[WAITING] = 0
            os.eventfd_write(event, 1)
    page[FINISHED] = 1
    os.eventfd_write(event, 1)


def main() -> None:
    channel = Channel.open(Path(sys.argv[1]))
    end_with_parent()
    precise_timers()
    channel.page[READY] = 1
    while not channel.page[START_AT] and not channel.page[STOP]:
        sleep(0.001)
    send(channel, int(sys.argv[2]))


if __name__ == "__main__":
    main()
