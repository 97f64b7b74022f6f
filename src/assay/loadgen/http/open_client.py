from __future__ import annotations

from assay.loadgen.http.client_limits import ClientLimits
from assay.loadgen.http.compiled.compiled_client import CompiledClient
from assay.loadgen.http.compiled.structures import functions
from assay.loadgen.http.http_client import HttpClient
from assay.loadgen.http.target import Target


def open_client(target: Target, limits: ClientLimits | None = None) -> HttpClient:
    """The compiled client where it can be used; the plain one for TLS and where there is no compiled library."""
    limits = limits or ClientLimits()
    if target.secure or functions() is None:
        from assay.loadgen.http.plain.plain_client import PlainClient

        return PlainClient(target, limits)
    return CompiledClient(target, limits)
