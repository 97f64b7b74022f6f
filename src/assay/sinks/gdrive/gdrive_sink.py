from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra
from assay.sinks.failure import Unavailable
from assay.sinks.gdrive.drive_upload import CHUNK, DriveUpload, call
from assay.sinks.gdrive.session_archive import write_archive
from assay.sinks.key import Key
from assay.sinks.sink import Sink

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
