"""Which model a server has, asked of the server itself."""

from __future__ import annotations

from dataclasses import replace

from assay.loadgen.http.fault import Fault
from assay.loadgen.http.http_client import HttpClient
from assay.loadgen.serving.endpoint import Endpoint
from assay.loadgen.serving.replies.read_replies import read_error
from assay.loadgen.serving.server_refused import ServerRefused, hint_of
from assay.names import list_names
from assay.untrusted.json_text import parse_json
from assay.untrusted.unreadable import Unreadable


def with_model(endpoint: Endpoint, client: HttpClient) -> Endpoint:
    """The endpoint with the server's one model where none was named."""
    if endpoint.model is not None or endpoint.kind == "http":
        return endpoint
    answer = client.exchange(endpoint.target.message("/models", method="GET"))
    where = f"{endpoint.target.url}/models"
    if answer.fault != Fault.NONE:
        said = f"{answer.status} {read_error(answer.body)}" if answer.status else answer.fault.sentence
        hint = hint_of(answer.status) or "; give --model"
        raise ServerRefused(f"{where}: which model does the server have? It answered: {said.strip()}{hint}")
    try:
        written = parse_json(answer.body, where)
        names = [str(model["id"]) for model in written["data"]]
    except (Unreadable, KeyError, TypeError):
        raise ServerRefused(
            f"{where}: the answer is no list of models: {read_error(answer.body)}; is this the right address? "
            "Otherwise give --model"
        ) from None
    if len(names) != 1:
        found = f"the server has {len(names)} models ({list_names(names)})" if names else "the server names no model"
        raise ServerRefused(f"{where}: {found}: give --model")
    return replace(endpoint, model=names[0])
