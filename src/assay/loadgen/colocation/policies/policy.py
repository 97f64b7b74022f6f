from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from assay.loadgen.colocation.policies.control import Control
from assay.loadgen.colocation.policies.pipeline_state import PipelineState


class Policy(ABC):
    """Who runs, where, and with how much of the machine, while pipelines run beside each other.

    Its constructor takes the keys of `policy.config`. There is a new one for each run of a group. It runs beside the
    pipelines, in Assay's own process and in one thread: what it spends on a look is taken from the machine.
    """

    every_s: float = 0.1
    """Seconds from one look to the next."""
    window_s: float = 1.0
    """Seconds that the recent figures of a state are of."""

    pipelines: tuple[str, ...] = ()
    """Names in its configuration: each must be a pipeline of the file. In a run of a matrix some of them may be absent.
    """

    def begin(self, states: Sequence[PipelineState], control: Control) -> None:
        """Before any process is started: the one time at which a device can be given."""

    @abstractmethod
    def look(self, now: float, states: Sequence[PipelineState], control: Control) -> None:
        """Called all the time from the release on until the last pipeline has ended; `now` is in seconds from the
        release."""
