from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from assay.config.base_model import Limits, Model, ProgramVariables


class ReadyConfig(Model):
    """How a service shows that it can be used: one of four ways."""

    http: str | None = Field(
        default=None, description="A path of its address, or a URL, that answers with 2xx.", examples=["/health"]
    )
    tcp: int | str | None = Field(
        default=None, description="A port, or host:port, that takes connections.", examples=["{port}"]
    )
    log: str | None = Field(
        default=None,
        description="A regular expression that a line of its output matches.",
        examples=["startup complete"],
    )
    command: str | list[str] | None = Field(
        default=None, description="A command that exits with 0; no shell runs.", examples=["./ready.sh {port}"]
    )

    @field_validator("log")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        try:
            re.compile(value or "")
        except re.error as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        return value

    @field_validator("http")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        return None if value is None else _check_address(value)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("takes exactly one of `http`, `tcp`, `log` and `command`")
        return self


class ServiceMetricsConfig(Model):
    """The Prometheus page of a service, read while the program runs."""

    path: str = Field(default="/metrics", description="A path of its address, or a URL.", examples=["/stats/metrics"])
    interval_s: float = Field(default=1.0, ge=0.05, le=3600, description="Seconds between two readings.", examples=[5])
    names: list[str] = Field(
        default=[],
        description="Which become metrics of the record, with * and ?; by default those of queues and caches.",
        examples=[["vllm:num_requests_*"]],
    )

    @field_validator("path")
    @classmethod
    def _is_address(cls, value: str) -> str:
        return _check_address(value)


def _check_address(value: str) -> str:
    if not value.startswith(("/", "http://", "https://", "{")):
        raise ValueError("is a path that begins with /, or a URL")
    return value


def _ready(written: Any) -> Any:
    """`/health` and `http://…` are short for {http: …}; `tcp` for the port of its address."""
    if written == "tcp":
        return {"tcp": "{port}"}
    return {"http": written} if isinstance(written, str) else written


def _metrics(written: Any) -> Any:
    """`/metrics` and `http://…` are short for {path: …}."""
    return {"path": written} if isinstance(written, str) else written


class ServiceConfig(Model):
    """A server that a run needs: started before it, ready before the program starts, ended after it."""

    command: str | list[str] | None = Field(
        default=None,
        description="Starts the server. Split like a shell would; no shell runs. {port}: a free port of the loopback.",
        examples=["vllm serve {models}/llama --port {port}"],
    )
    env: ProgramVariables = Field(
        default={},
        description="Environment variables of the server, over Assay's own.",
        examples=[{"VLLM_LOGGING_LEVEL": "WARNING"}],
    )
    cwd: str | None = Field(
        default=None, description="Folder it starts in; the working folder by default.", examples=["/srv"]
    )
    url: str = Field(
        default="http://127.0.0.1:{port}",
        description="Its address: {service_url} in the entry's arguments and `env`, ASSAY_SERVICE_URL for the program.",
        examples=["http://127.0.0.1:{port}/v1"],
    )
    ready: Annotated[ReadyConfig | None, BeforeValidator(_ready, json_schema_input_type=ReadyConfig | str | None)] = (
        Field(
            default=None,
            description="When it can be used. By default: when the port of its address takes connections.",
            examples=["/health"],
        )
    )
    ready_timeout_s: float = Field(
        default=300.0, gt=0, description="Seconds from its start until it must be ready.", examples=[600]
    )
    stop_timeout_s: float = Field(
        default=10.0, ge=0, description="Seconds between SIGTERM and SIGKILL, when it is ended.", examples=[30]
    )
    restart: Literal["always", "never"] = Field(
        default="always",
        description="`never`: kept for all runs of the entry, which then follow each other.",
        examples=["never"],
    )
    metrics: Annotated[
        ServiceMetricsConfig | None,
        BeforeValidator(_metrics, json_schema_input_type=ServiceMetricsConfig | str | None),
    ] = Field(default=None, description="Its Prometheus page, read while the program runs.", examples=["/metrics"])
    limits: Limits = Field(
        default=Limits(), description="What the service's own processes may use.", examples=[{"memory": "16GB"}]
    )
    gpus: int | list[int] | None = Field(
        default=None, description="How many GPUs it sees, or which, by number.", examples=[1]
    )

    @field_validator("url")
    @classmethod
    def _is_url(cls, value: str) -> str:
        if not value.startswith(("http://", "https://", "tcp://", "{")):
            raise ValueError("must begin with http://, https:// or tcp://")
        return value
