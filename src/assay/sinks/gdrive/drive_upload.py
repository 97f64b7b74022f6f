"""A resumable upload to Google Drive that survives the process (developers.google.com/drive/api/guides/manage-uploads).
The address Drive gives for the upload is kept on disk; whoever comes next asks there how much has arrived and goes on.

The retry loop is here because the client's own (`next_chunk(num_retries=…)`) hangs after a 503."""

from __future__ import annotations

import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any

from assay.sinks.delivery.context import Memory
from assay.sinks.failure import Rejected, Unavailable
from assay.sinks.http_target import parse_retry_after

# Drive takes multiples of 256 KiB.
CHUNK = 8 * 1024 * 1024
_IN_A_ROW = 4


class DriveUpload:
    def __init__(self, request: Any, memory: Memory, key: str) -> None:
        """`request`: `files().create(…)` or `files().update(…)` with a resumable body."""
        self._request = request
        self._memory = memory
        self._where = f"upload address of {key}"
        known = memory.get(self._where)
        if known:
            self._request.resumable_uri = known
            self._ask_first()

    def run(self) -> dict[str, Any]:
        """The file's fields. Raises Unavailable when Drive does not answer for a while: call again later."""
        failures = 0
        while True:
            sent = self._request.resumable_progress
            try:
                _, done = self._request.next_chunk(num_retries=0)
            except Exception as error:  # noqa: BLE001 - httplib2, ssl and http.client raise what they like
                failures = 0 if self._request.resumable_progress > sent else failures + 1
                self._after(error, failures)
                continue
            failures = 0
            self._memory[self._where] = self._request.resumable_uri
            if done is not None:
                self._memory[self._where] = None
                return dict(done)

    def _after(self, error: Exception, failures: int) -> None:
        status = int(getattr(getattr(error, "resp", None), "status", 0) or 0)
        if status in (404, 410) and self._request.resumable_uri:
            # Drive forgets an upload after a week.
            self._memory[self._where] = None
            raise Unavailable("the upload has expired and is begun again")
        told = translate_error(error)
        if isinstance(told, Rejected) or failures >= _IN_A_ROW:
            raise told from None
        if self._request.resumable_uri:
            self._memory[self._where] = self._request.resumable_uri
            self._ask_first()
        time.sleep(0.2 * 2**failures)

    def _ask_first(self) -> None:
        """Makes the client ask what has arrived before it sends more; it has no public way to say so."""
        self._request._in_error_state = True


def translate_error(error: Exception) -> Exception:
    response = getattr(error, "resp", None)
    if response is None:
        if isinstance(error, OSError | HTTPException) or "httplib2" in type(error).__module__:
            return Unavailable(f"Drive: {error or type(error).__name__}")
        return error
    status = int(response.status)
    reason = f"Drive answered {status}: {getattr(error, 'reason', '') or error}"[:400]
    if status == 400 or status == 413:
        return Rejected(reason)
    return Unavailable(reason, parse_retry_after(response.get("retry-after")))


def call(what: Callable[[], Any]) -> Any:
    try:
        return what()
    except Exception as error:  # noqa: BLE001 - see above
        raise translate_error(error) from None
