"""What a server refuses, and the models it serves."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from assay.errors import AssayError
from assay.files.json_text import parse_json
from assay.files.reading import Unreadable
from assay.loadgen.http.http_client import Fault, HttpClient
from assay.loadgen.serving.endpoint import Endpoint
from assay.loadgen.serving.replies import read_error
from assay.names import list_names

_HINTS: Final = {
    401: "; is the key right? It is taken from OPENAI_API_KEY, or from the variable that --api-key-env names",
    403: "; may this key use the model?",
}
_KIND_HINTS: Final = {
    "not_an_answer": "; is this the right address, and --endpoint the right one?",
    "total_timeout": "; --request-timeout says how long an answer may take",
    "idle_timeout": "; --idle-timeout says how long a server may be silent",
}


class ServerRefused(AssayError):
    """The server answers, and not what is asked of it."""

    exit_code = 1

    @classmethod
    def of_first(cls, endpoint: Endpoint, status: int, kind: str, said: str) -> ServerRefused:
        """The error for a first request that shows that no other will be answered, with a hint. `kind`: kind of the
        error."""
        hint = _hint_of_404(endpoint, said) if status == 404 else hint_of(status) or _KIND_HINTS.get(kind, "")
        return cls(f"{endpoint.url}: {said}{hint}")


def hint_of(status: int) -> str:
    """Hint what to look at when a server refuses the client; empty for any other status."""
    return _HINTS.get(status, "")


def _hint_of_404(endpoint: Endpoint, said: str) -> str:
    if endpoint.model is not None and ("model" in said.lower() or endpoint.model in said):
        return f"; is {endpoint.model!r} the model's name? GET {endpoint.target.url}/models lists what the server has"
    return "; is this the right address, and does the server have this endpoint?"


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
