"""Google Drive as its documentation describes it: a service account's signed token, resumable uploads with their
ranges, shared drives, look-ups by property."""

from __future__ import annotations

import base64
import json
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from tests.sinks.moody_server import Answer, MoodyServer, Request

FOLDER = "0AFolderInASharedDrive"
_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+)")
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class File:
    id: str
    name: str
    properties: dict[str, str]
    content: bytes


@dataclass
class _Upload:
    body: dict[str, Any]
    size: int
    file_id: str | None
    received: bytearray = field(default_factory=bytearray)
    file: File | None = None


@dataclass
class Drive:
    files: list[File] = field(default_factory=list)
    uploads: dict[str, _Upload] = field(default_factory=dict)
    bytes_taken: int = 0
    queries: int = 0
    """How often a client asked how much had arrived."""

    def __post_init__(self) -> None:
        self.server = MoodyServer(self._answer)

    def account_file(self, folder: Path) -> str:
        secret = _KEY.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        told = {"type": "service_account", "client_email": "bench@example.iam", "private_key": secret.decode()}
        path = folder / "account.json"
        path.write_text(json.dumps({**told, "token_uri": f"{self.server.url}/token", "private_key_id": "k1"}))
        return str(path)

    def _answer(self, request: Request) -> Answer:
        if request.route == "/token":
            return self._token(request)
        if request.headers.get("authorization") != "Bearer ya29.token":
            return _json({"error": {"code": 401, "message": "Invalid Credentials"}}, 401)
        if request.route.startswith("/upload/drive/v3/files"):
            if "upload_id" in request.query:
                return self._put(request)
            return self._begin(request)
        if request.route == "/drive/v3/files" and request.method == "GET":
            return self._list(request)
        if request.route.startswith("/drive/v3/files/") and request.method == "GET":
            [found] = [file for file in self.files if request.route.endswith(file.id)] or [None]
            return _shown(found) if found else _json({"error": {"code": 404, "message": "File not found"}}, 404)
        return _json({"error": {"code": 404, "message": "Not Found"}}, 404)

    def _token(self, request: Request) -> Answer:
        said = {key: values[0] for key, values in parse_qs(request.body.decode()).items()}
        head, body, signature = said["assertion"].split(".")
        _KEY.public_key().verify(_raw(signature), f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
        claims = json.loads(_raw(body))
        assert said["grant_type"] == _GRANT
        assert claims["aud"] == "https://oauth2.googleapis.com/token"
        assert claims["iss"] == "bench@example.iam"
        assert claims["exp"] > time.time()
        assert "auth/drive" in claims["scope"]
        return _json({"access_token": "ya29.token", "expires_in": 3600, "token_type": "Bearer"})

    def _begin(self, request: Request) -> Answer:
        query, body = request.query, json.loads(request.body)
        if query.get("uploadType") != ["resumable"] or "x-upload-content-length" not in request.headers:
            return _json({"error": {"code": 400, "message": "Bad Request"}}, 400)
        file_id = request.route.removeprefix("/upload/drive/v3/files").strip("/") or None
        shared = query.get("supportsAllDrives") == ["true"]
        if file_id is None and not (shared and body.get("parents") == [FOLDER]):
            # A folder in a shared drive is not seen by a client that does not say that it knows of them.
            return _json({"error": {"code": 404, "message": f"File not found: {body.get('parents')}."}}, 404)
        if any(len(f"{k}{v}".encode()) > 124 for k, v in body.get("appProperties", {}).items()):
            return _json({"error": {"code": 400, "message": "Property too long"}}, 400)
        upload_id = f"u{len(self.uploads)}"
        self.uploads[upload_id] = _Upload(body, int(request.headers["x-upload-content-length"]), file_id)
        return Answer(
            200, b"", {"Location": f"{self.server.url}{request.route}?uploadType=resumable&upload_id={upload_id}"}
        )

    def _put(self, request: Request) -> Answer:
        upload = self.uploads.get(request.query["upload_id"][0])
        if upload is None:
            return _json({"error": {"code": 404, "message": "Upload not found"}}, 404)
        span = _RANGE.fullmatch(request.headers.get("content-range", ""))
        assert span, request.headers
        assert int(span[3]) == upload.size
        if span[1] is None:
            self.queries += 1
            assert request.body == b""
            return self._state(upload)
        first, last = int(span[1]), int(span[2])
        if first != len(upload.received) or len(request.body) != last - first + 1:
            return _json({"error": {"code": 400, "message": "Bad range"}}, 400)
        if last + 1 < upload.size and len(request.body) % (256 * 1024):
            return _json({"error": {"code": 400, "message": "Chunks are multiples of 256 KiB"}}, 400)
        upload.received += request.body
        self.bytes_taken += len(request.body)
        return self._state(upload)

    def _state(self, upload: _Upload) -> Answer:
        if len(upload.received) < upload.size:
            got = {"Range": f"bytes=0-{len(upload.received) - 1}"} if upload.received else {}
            return Answer(308, b"", got)
        if upload.file is None:
            properties, content = upload.body.get("appProperties", {}), bytes(upload.received)
            if upload.file_id:
                [upload.file] = [file for file in self.files if file.id == upload.file_id]
                upload.file.content, upload.file.properties = content, properties
            else:
                upload.file = File(f"id{len(self.files)}", upload.body["name"], properties, content)
                self.files.append(upload.file)
        return _shown(upload.file)

    def _list(self, request: Request) -> Answer:
        [query] = request.query["q"]
        wanted = re.search(r"appProperties has \{ key='assay_key' and value='(\w+)' \}", query)
        assert wanted, query
        assert request.query["includeItemsFromAllDrives"] == ["true"]
        found = [file for file in self.files if file.properties.get("assay_key") == wanted[1]]
        return _json({"files": [{"id": file.id} for file in found]})


def _shown(file: File) -> Answer:
    return _json(
        {
            "id": file.id,
            "appProperties": file.properties,
            "webViewLink": f"https://drive.google.com/file/d/{file.id}/view",
        }
    )


def _json(told: dict[str, Any], status: int = 200) -> Answer:
    return Answer(status, json.dumps(told).encode(), {"Content-Type": "application/json"})


def _raw(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
