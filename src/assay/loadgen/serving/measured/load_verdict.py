from __future__ import annotations

from dataclasses import dataclass

from assay.loadgen.serving.measured.delivered_load import LEAST_SHARE, DeliveredLoad
from assay.loadgen.serving.measured.saturation import Saturation

CPU_FULL = 0.9
"""Share of a core above which a client that runs on one has nothing left."""
NEAR_CEILING = 0.8
"""Share of the most that the client can do here, above which it may have been what was measured."""


@dataclass(frozen=True)
class LoadVerdict:
    """May the figures be read as the server's?"""

    client_bottleneck: str = ""
    """Why the client was what held the load up; empty where it was not."""
    undelivered: str = ""
    """Why the load was another than the one asked for."""
    saturated: str = ""
    failed: str = ""
    """Why nothing was measured."""

    @property
    def reasons(self) -> list[str]:
        return [words for words in (self.failed, self.saturated, self.client_bottleneck, self.undelivered) if words]

    @property
    def of_server(self) -> bool:
        """The times say something about the server under the load that was asked for."""
        return not self.reasons


def load_verdict(
    delivered: DeliveredLoad,
    cpu_share: float,
    rate: float,
    ceiling: float | None,
    saturation: Saturation | None,
    failed: str,
) -> LoadVerdict:
    """`cpu_share`: of a core, by each process of the client; `ceiling`: requests a second that it gets through, on this
    machine, against a server that does nothing."""
    client = ""
    if cpu_share > CPU_FULL:
        client = f"the client was the bottleneck: it used {cpu_share:.0%} of a core"
    elif ceiling is not None and rate > NEAR_CEILING * ceiling:
        client = (
            f"the client was the bottleneck: {rate:.4g} requests/s, and here it gets through {ceiling:.4g}/s "
            "of such answers from a server that does nothing"
        )
    elif delivered.closed and delivered.own_share < LEAST_SHARE and not delivered.reconnected:
        client = (
            f"the client was the bottleneck: places in flight stood empty {1 - delivered.own_share:.1%} of the time, "
            f"{delivered.empty_mean / 1e3:.3g} µs (mean) from an answer to the next request"
        )
    elif not delivered.closed and delivered.own_share < LEAST_SHARE:
        client = (
            f"the client was the bottleneck: it sent {delivered.own_share:.1%} of the load at its times "
            f"(median {delivered.lateness_p50 / 1e6:.3g} ms late)"
        )
    undelivered = ""
    if not client and delivered.share < LEAST_SHARE:
        held = f"; {delivered.held_back} requests waited for one of the places in flight" if delivered.held_back else ""
        undelivered = f"the load asked for was not delivered: {delivered.share:.1%} of it{held}"
        if delivered.reconnected:
            undelivered += (
                f"; {delivered.reconnected} connections had to be made anew, the server did not keep them alive"
            )
    return LoadVerdict(client, undelivered, saturation.words if saturation else "", failed)
