from __future__ import annotations

from typing import Final

from assay.errors import AssayError
from assay.loadgen.serving.endpoint import Endpoint

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
