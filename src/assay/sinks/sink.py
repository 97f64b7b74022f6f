from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from assay.sinks.key import Key

if TYPE_CHECKING:
    from assay.sinks.delivery.context import SinkContext


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
