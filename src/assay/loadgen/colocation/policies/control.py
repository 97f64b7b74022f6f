from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from assay.loadgen.colocation.config import LimitsConfig
from assay.loadgen.colocation.policies.request import Request
from assay.names import unknown


class Control:
    """What a policy may ask for. It is done after the call of the policy returns, in the order asked.

    What makes no sense at any time (no such pipeline, a negative share) raises ValueError here. What cannot be done
    now or on this machine is refused, and the reason is in the run's decisions. Asking for what is so already, or of a
    pipeline that has ended, is nothing: a policy may say at every look how things should be.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self.requests: list[Request] = []

    def start(self, pipeline: str, reason: str = "") -> None:
        """Ends a delay."""
        self._ask(Request(pipeline, "start", reason))

    def delay(self, pipeline: str, seconds: float | None = None, reason: str = "") -> None:
        """Releases it later than the others: `seconds` from now (asked in `begin`: from the release); without them,
        when it is started."""
        if seconds is not None and not 0 <= seconds < float("inf"):
            raise ValueError(f"a delay must be 0 seconds or more, not {seconds}")
        self._ask(Request(pipeline, "delay", reason, seconds=seconds))

    def pause(self, pipeline: str, reason: str = "") -> None:
        """Has all its processes stand still, at once. Its queries still come: their latency counts the pause."""
        self._ask(Request(pipeline, "pause", reason))

    def resume(self, pipeline: str, reason: str = "") -> None:
        self._ask(Request(pipeline, "resume", reason))

    def place(
        self, pipeline: str, cpus: Sequence[int] | None = None, device: str | None = None, reason: str = ""
    ) -> None:
        """Moves the pipeline to these processors, from now on. A device can be given in `begin` only."""
        if cpus is None and device is None:
            raise ValueError(f"where should {pipeline} be placed? give cpus or a device")
        if cpus is not None and (not cpus or not all(type(cpu) is int and cpu >= 0 for cpu in cpus)):
            raise ValueError(f"cpus must be numbers of processors, not {cpus!r}")
        numbers = None if cpus is None else tuple(sorted(set(cpus)))
        self._ask(Request(pipeline, "place", reason, cpus=numbers, device=device))

    def resize(
        self,
        pipeline: str,
        cpus: float | None = None,
        cpu_weight: int | None = None,
        memory_mb: int | None = None,
        reason: str = "",
    ) -> None:
        """`cpus`: processors' worth of time, at most; `cpu_weight`: its share where others want them too, 1 to 10,000,
        usually 100. What is left out stays as it is."""
        given = {"cpus": cpus, "cpu_weight": cpu_weight, "memory_mb": memory_mb}
        if all(value is None for value in given.values()):
            raise ValueError(f"how should {pipeline} be resized? give cpus, cpu_weight or memory_mb")
        try:
            limits = LimitsConfig.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"{first['loc'][0]}: {first['msg']}, not {first['input']!r}") from None
        self._ask(Request(pipeline, "resize", reason, limits=limits))

    def _ask(self, request: Request) -> None:
        if request.pipeline not in self._names:
            raise ValueError(unknown("pipeline", request.pipeline, self._names))
        if not isinstance(request.reason, str):
            raise ValueError(f"a reason must be text, not {request.reason!r}")
        self.requests.append(request)
