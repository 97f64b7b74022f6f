"""A resumable upload to Google Drive that survives the process (developers.google.com/drive/api/guides/manage-uploads).
The address Drive gives for the upload is kept on disk; whoever comes next asks there how much has arrived and goes on.

The retry loop is here because the client's own (`next_chunk(num_retries=…)`) hangs after a 503."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import time
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra
from assay.files.writing import open_new, temporary_name
from assay.sinks.delivery.outbox import Memory
from assay.sinks.http_target import parse_retry_after
from assay.sinks.sink import Key, Rejected, Sink, Unavailable

# What is of no use elsewhere: our own queue, and what entries used while they ran.
_LEFT_OUT = frozenset({"outbox", "scratch", "ray_cluster"})


def write_archive(folder: Path, to: Path) -> None:
    """The session's folder as one file, whole or not there. Links are kept as links, never followed out of it."""
    temporary = temporary_name(to)
    try:
        with open_new(temporary, "wb") as written:
            with tarfile.open(fileobj=written, mode="w:gz", compresslevel=6) as archive:
                archive.add(folder, arcname=folder.name, filter=_keep)
            os.fsync(written.fileno())
        temporary.replace(to)
    finally:
        temporary.unlink(missing_ok=True)


def _keep(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    inside = Path(member.name).parts[1:]
    return None if _LEFT_OUT & set(inside) or not (member.isfile() or member.isdir() or member.issym()) else member


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


SCOPE = "https://www.googleapis.com/auth/drive"
_FIELDS = "id,webViewLink"


class GoogleDriveSink(Sink):
    summary = "Google Drive: the session's folder as one archive, when the session is over"
    keys = (
        Key(
            "drive_folder_id",
            "of the folder, in a shared drive: a service account has no space of its own",
            required=True,
        ),
        Key("service_account_file", "the account's key file (default: GOOGLE_APPLICATION_CREDENTIALS)"),
        Key("api_root", "another address of Google's API (default: https://www.googleapis.com/)"),
    )
    # Longer uploads are stopped and go on where they were.
    delivery_timeout_s = 900.0

    @classmethod
    def problems(cls, config: dict[str, Any]) -> list[str]:
        path = config.get("service_account_file") or os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
        return [] if path else ["service_account_file: needed, or GOOGLE_APPLICATION_CREDENTIALS in the environment"]

    def finalize(self) -> None:
        memory, key = self.context.memory, hashlib.sha256(self.context.session_name.encode()).hexdigest()[:40]
        delivered = f"delivered {self.context.message_key}"
        if delivered in memory:
            return
        files = self._files()
        archive = self.context.folder / "outbox" / f"{self.context.session_name}.tar.gz"
        if memory.get("archive of") != self.context.message_key or not archive.is_file():
            write_archive(self.context.folder, archive)
            # Another archive is another upload, even if the one before was cut short.
            memory[f"upload address of {key}"] = None
            memory["archive of"] = self.context.message_key
        file = self._upload(files, key, archive)
        memory["file"] = file["id"]
        memory[delivered] = True
        self.context.announce("Google Drive", str(file.get("webViewLink") or file["id"]))
        archive.unlink(missing_ok=True)

    def _upload(self, files: Any, key: str, archive: Path) -> dict[str, Any]:
        from googleapiclient.http import MediaFileUpload

        memory = self.context.memory
        known = memory.get("file") or self._look(files, key)
        mark = hashlib.sha256(self.context.message_key.encode()).hexdigest()[:40]
        if known:
            wanted = f"{_FIELDS},appProperties"
            found = call(lambda: files.get(fileId=known, fields=wanted, supportsAllDrives=True).execute())
            if (found.get("appProperties") or {}).get("assay_message") == mark:
                # It is there already: an earlier process was killed after the last byte was taken and before the answer
                # came.
                return dict(found)
        media = MediaFileUpload(str(archive), mimetype="application/gzip", chunksize=CHUNK, resumable=True)
        shared: dict[str, Any] = {"media_body": media, "fields": _FIELDS, "supportsAllDrives": True}
        properties = {"assay_key": key, "assay_message": mark, "assay_session": self._short_name()}
        body = {"name": archive.name, "appProperties": properties}
        if known:
            request = files.update(fileId=known, body=body, **shared)
        else:
            request = files.create(body={**body, "parents": [str(self.config["drive_folder_id"])]}, **shared)
        return DriveUpload(request, memory, key).run()

    def _look(self, files: Any, key: str) -> str | None:
        query = f"appProperties has {{ key='assay_key' and value='{key}' }} and trashed = false"
        found = call(
            lambda: files.list(
                q=query,
                fields="files(id)",
                corpora="allDrives",
                supportsAllDrives=True,
                includeItemsFromAllDrives=True,
            ).execute()
        )
        return str(found["files"][0]["id"]) if found.get("files") else None

    def _files(self) -> Any:
        try:
            import google_auth_httplib2
            from google.oauth2.service_account import Credentials
            from googleapiclient.discovery import build_from_document
            from googleapiclient.discovery_cache import get_static_doc
            from googleapiclient.http import build_http
        except ImportError:
            raise MissingExtra("google-api-python-client", "gdrive") from None
        path = self.config.get("service_account_file") or os.environ.get("GOOGLE_APPLICATION_CREDENTIALS")
        try:
            credentials = Credentials.from_service_account_file(str(path), scopes=[SCOPE])
        except (OSError, ValueError) as error:
            raise Unavailable(f"service_account_file {path}: {error}") from None
        # `api_endpoint` would leave uploads at Google's own address: only the document has both.
        document = json.loads(get_static_doc("drive", "v3"))
        if self.config.get("api_root"):
            document["rootUrl"] = f"{str(self.config['api_root']).rstrip('/')}/"
        http = google_auth_httplib2.AuthorizedHttp(credentials, http=build_http())
        return build_from_document(document, http=http).files()

    def _short_name(self) -> str:
        """A property's key and value may have 124 bytes together."""
        return self.context.session_name.encode()[:100].decode(errors="ignore")
