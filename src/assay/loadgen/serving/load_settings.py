from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from assay.errors import UsageError

if TYPE_CHECKING:  # Checking a command line imports this module, and is to be quick.
    from assay.loadgen.serving.objectives import ServingObjective
    from assay.loadgen.serving.token_text import TokenLengths


@dataclass(frozen=True)
class LoadAsked:
    """The load of one run, as it was asked for."""

    scheduler: str
    """Name of the load scheduler, `conversations` or `trace`."""
    rate: float | None = None
    concurrency: int | None = None
    """Requests in flight: of a closed loop, the most of an open one; or conversations at a time."""
    requests: int | None = None
    duration_s: float | None = None
    seed: int = 0
    loop: Literal["open", "closed", "conversations"] = "open"
    objectives: tuple[ServingObjective, ...] = ()
    processes: int = 1
    """Client processes that it was dealt out to."""

    @property
    def closed_places(self) -> int | None:
        """Requests that a closed loop keeps in flight."""
        return self.concurrency if self.loop == "closed" else None

    @property
    def cap(self) -> int | None:
        """Requests in flight at most, of an open loop."""
        return self.concurrency if self.loop == "open" else None

    @property
    def words(self) -> str:
        """`rate 10/s (poisson)`, `16 in flight`."""
        if self.loop == "conversations":
            return f"{self.concurrency} conversations at a time"
        if self.loop == "closed":
            return f"{self.concurrency} in flight"
        rate = self.scheduler if self.rate is None else f"{self.rate:g}/s ({self.scheduler})"
        return rate if self.cap is None else f"{rate}, at most {self.cap} in flight"

    def to_json(self) -> dict[str, Any]:
        return {
            "scheduler": self.scheduler,
            "loop": self.loop,
            "rate": self.rate,
            "concurrency": self.concurrency,
            "requests": self.requests,
            "duration_s": self.duration_s,
            "seed": self.seed,
            "processes": self.processes,
            "words": self.words,
        }


EndpointKind = Literal["chat", "completions", "responses", "embeddings", "http"]
ENDPOINTS: Final = ("chat", "completions", "responses", "embeddings", "http")
DEFAULT_REQUESTS = 100
DEFAULT_DURATION_S = 30.0


@dataclass(frozen=True)
class LoadSettings:
    """Everything that a user may say about a load on an endpoint. The API key is not among it."""

    url: str
    model: str | None = None
    endpoint: EndpointKind = "chat"
    streamed: bool = True
    rate: float | None = None
    concurrency: int | None = None
    requests: int | None = None
    duration_s: float | None = None
    scheduler: str | None = None
    """A name, `NAME:KEY=VALUE,…`, or JSON `{"component", "config"}`; None: Poisson for a rate, otherwise closed."""
    processes: int = 1
    """Client processes that the load is dealt out to."""
    seed: int = 0
    prompt_tokens: str = "128"
    max_tokens: str = "128"
    prompts: Path | None = None
    tokenizer: Path | None = None
    prefix_tokens: int = 0
    prefixes: int = 1
    turns: int = 1
    think_s: float = 0.0
    multi_turn: bool = False
    """Play whole conversations of a file, not only what is said first in each."""
    history: Literal["server", "recorded"] = "server"
    """Answers that stand in the later turns of a conversation."""
    trace_speed: float = 1.0
    timestamp_unit: Literal["s", "ms"] = "s"
    body: str | None = None
    """Body of a plain HTTP request, in which {prompt} and {max_tokens} are put."""
    method: str | None = None
    headers: tuple[str, ...] = ()
    extra_body: str | None = None
    """JSON object that is merged into each request."""
    warmup: int = 1
    """Requests sent one after the other before the clock starts; in no figure."""
    connect_s: float = 10.0
    idle_s: float = 60.0
    """Longest silence of an answer."""
    total_s: float = 300.0
    """Longest time of one answer."""
    cancel_after_s: float | None = None
    cancel_after_tokens: int | None = None
    objectives: tuple[ServingObjective, ...] = ()
    stop_saturated: bool = True
    insecure: bool = False
    ca_file: str | None = None
    label: str = ""
    """Name of this setting among others, in a chart of several."""
    key: str | None = field(default=None, repr=False, compare=False)
    """API key. It is never written to anything."""

    def __post_init__(self) -> None:
        for name in ("rate", "duration_s", "trace_speed", "connect_s", "idle_s", "total_s", "cancel_after_s"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise UsageError(f"{_option(name)} must be greater than 0, not {value}")
        for name in ("concurrency", "requests", "processes", "turns", "prefixes", "cancel_after_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{_option(name)} must be at least 1, not {value}")
        for name in ("warmup", "think_s", "prefix_tokens", "seed"):
            if getattr(self, name) < 0:
                raise UsageError(f"{_option(name)} must not be negative")
        if self.processes > 1 and self.conversational:
            raise UsageError("--processes: a conversation goes on in one process; leave one of the two out")
        if self.endpoint == "http" and self.streamed:
            object.__setattr__(self, "streamed", False)
        if self.endpoint == "embeddings":
            object.__setattr__(self, "streamed", False)
        if self.body is not None and self.endpoint != "http":
            raise UsageError("--body is for --endpoint http; what the others send is made from the prompts")

    @property
    def conversational(self) -> bool:
        return self.turns > 1 or self.multi_turn

    @property
    def lengths(self) -> tuple[TokenLengths, TokenLengths]:
        from assay.loadgen.serving.token_text import TokenLengths

        return (
            TokenLengths.parse(self.prompt_tokens, "--prompt-tokens"),
            TokenLengths.parse(self.max_tokens, "--max-tokens"),
        )

    def with_end(self) -> LoadSettings:
        """The settings with an end: where none is said, 100 requests or 30 seconds, whichever comes first."""
        if self.requests is not None or self.duration_s is not None:
            return self
        return replace(self, requests=DEFAULT_REQUESTS, duration_s=DEFAULT_DURATION_S)

    def to_json(self) -> dict[str, Any]:
        written = {name: value for name, value in asdict(self).items() if name not in ("key", "headers", "objectives")}
        paths = {name: str(value) for name, value in written.items() if isinstance(value, Path)}
        # A header may hold a key: only its name is kept.
        names = [header.partition(":")[0] for header in self.headers]
        return {**written, **paths, "headers": names, "objectives": [each.words for each in self.objectives]}


def _option(name: str) -> str:
    return "--" + name.removesuffix("_s").replace("_", "-")


MOST_DIFFERENT = 4096
"""Prompts that are made up for one run; a run of more requests uses them again."""
