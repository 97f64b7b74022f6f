"""Why a message did not arrive. A sink raises one of these where it knows; anything else it raises counts as
`Unavailable`.

SinkFailure
 ├─ Unavailable     not now: keep the message, and the order, and try again later
 └─ Rejected        never: set this message aside, go on with the next
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from assay.sinks.delivery.outbox import SinkContext


class SinkFailure(Exception):
    def __init__(self, reason: str = "", status: int | None = None) -> None:
        self.status = status
        """What an HTTP service answered with, where it did."""
        super().__init__(reason)


class Unavailable(SinkFailure):
    def __init__(self, reason: str, retry_after_s: float | None = None, status: int | None = None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(reason, status)


class Rejected(SinkFailure):
    pass


@dataclass(frozen=True)
class Key:
    """A key that a built-in sink takes from the configuration."""

    name: str
    help: str
    required: bool = False
    secret: bool = False


COMMON_KEYS = (
    Key("name", "of a built-in sink, or of one that an installed package registers under `assay.sinks`"),
    Key("class", "dotted path of a sink's class, for one that no package registers"),
    Key("enabled", "false: nothing else of this sink is looked at"),
    Key("delivery_timeout_s", "how long one delivery may take before it is stopped and tried again"),
)


class Sink:
    """Where results go. Its hooks run in a process of their own, one at a time, in the order things happened.

    A hook that returns has delivered. One that raises is called again later with the same message: raise
    `Unavailable` to say when, `Rejected` to have the message set aside. One that takes longer than
    `delivery_timeout_s` is ended with its process, and called again.

    The process may be another one each time: `initialize` is called whenever it starts, before anything else.
    What must outlive it (ids of remote things) belongs into `self.context.memory`, which is on disk.

    The constructor gets the sink's own keys; one with a parameter named `config` gets the whole mapping.
    """

    keys: ClassVar[tuple[Key, ...]] = ()
    entry_keys: ClassVar[tuple[str, ...] | None] = None
    """What `sink_data` of an entry may say to it; None: anything."""
    summary: ClassVar[str] = ""
    delivery_timeout_s: ClassVar[float] = 30.0
    context: SinkContext
    """Set before `initialize`."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self.config = config or {}

    @classmethod
    def problems(cls, config: dict[str, Any]) -> list[str]:
        """What is wrong with the values, beyond unknown and missing keys. Must not look at the network."""
        return []

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        """The session has begun, or delivery goes on after a restart."""

    def entry_started(self, name: str, run_id: str) -> None:
        """A run of the entry has begun."""

    def process_result(self, result: dict[str, Any]) -> None:
        """A run is over. `result` is `Record.to_json()`: `script_metrics` holds plain values, `metrics_detail` units,
        directions and samples by metric, and `sink_data` what the entry says to this sink."""

    def finalize(self) -> None:
        """The session is over. `self.context.closing` says how. Called again if the session is resumed."""


class RunLogger(Protocol):
    """The older form of a sink: told of a session piece by piece."""

    def start_session(self, session_name: str) -> None: ...
    def start_run(self, run_name: str) -> None: ...
    def log_params(self, params: dict[str, Any]) -> None: ...
    def log_metrics(self, metrics: dict[str, Any]) -> None: ...
    def log_artifact(self, path: str) -> None: ...
    def end_run(self, success: bool) -> None: ...
    def end_session(self, success: bool) -> None: ...


class RunLoggerSink(Sink):
    """Drives a sink of the older form. A run is told in one go when it is over, so that a run that is delivered
    again after a crash begins with `start_run` again."""

    def __init__(self, logger: RunLogger) -> None:
        super().__init__()
        self.logger = logger

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        self.logger.start_session(session_name)

    def process_result(self, result: dict[str, Any]) -> None:
        self.logger.start_run(result["name"])
        success = False
        try:
            self.logger.log_params(result["script_params"])
            self.logger.log_metrics({**result["script_metrics"], "exec_time_s": result["exec_time_s"]})
            for file in self._files(result):
                self.logger.log_artifact(str(file))
            success = bool(result["success"])
        except BaseException:
            with contextlib.suppress(Exception):
                self.logger.end_run(False)
            raise
        self.logger.end_run(success)
        if not success:
            self.context.memory["a run failed"] = True

    def finalize(self) -> None:
        self.logger.end_session("a run failed" not in self.context.memory)

    def _files(self, result: dict[str, Any]) -> list[Path]:
        named = [result.get("stdouterr_file") or "", *result.get("files", {}).values()]
        found = [self.context.folder / name for name in named if name]
        found += sorted((self.context.folder / "artifacts").glob("*"))
        return [path for path in found if path.is_file()]


BESIDE = "x-beside"
"""Key under which the folders are kept. No file can have it: `x-…` keys are the author's own and left out."""
_COMMON = frozenset({*(key.name for key in COMMON_KEYS), BESIDE})


@dataclass(frozen=True)
class SinkSpec:
    """What a configuration says of one sink."""

    name: str
    class_path: str | None = None
    enabled: bool = True
    delivery_timeout_s: float | None = None
    own: Mapping[str, Any] = field(default_factory=dict)
    """The keys that are the sink's alone."""
    beside: tuple[str, ...] = ()
    """Folders in which the module of a user's own sink is looked for first."""
    missing: tuple[str, ...] = ()
    """Environment variables that held a secret and are not set any more."""

    @classmethod
    def parse(cls, written: Mapping[str, Any]) -> SinkSpec:
        class_path = written.get("class")
        timeout = written.get("delivery_timeout_s")
        return cls(
            name=str(written.get("name") or class_path or "?"),
            class_path=None if class_path is None else str(class_path),
            enabled=written.get("enabled", True) is not False,
            delivery_timeout_s=None if timeout is None else float(timeout),
            own={key: value for key, value in written.items() if key not in _COMMON},
            beside=tuple(written.get(BESIDE, ())),
        )

    def to_json(self) -> dict[str, Any]:
        written: dict[str, Any] = {"name": self.name, "enabled": self.enabled, **self.own}
        if self.class_path is not None:
            written["class"] = self.class_path
        if self.delivery_timeout_s is not None:
            written["delivery_timeout_s"] = self.delivery_timeout_s
        if self.beside:
            written[BESIDE] = list(self.beside)
        return written
