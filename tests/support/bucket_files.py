"""`bucket://HOST:PORT/path` for fsspec: a client of `bucket_server`, with the promises of an object store."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any

import fsspec
from fsspec.spec import AbstractFileSystem


class BucketFiles(AbstractFileSystem):  # type: ignore[misc]
    protocol = ("bucket", "s3")
    cachable = False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path.removeprefix("bucket://").rstrip("/")

    def _ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        host, _, key = self._strip_protocol(path).partition("/")
        connection = HTTPConnection(host, timeout=30)
        try:
            end = "/" if path.endswith("/") else ""
            connection.request(method, f"/{key}{end}", body, {key.replace("_", "-"): v for key, v in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: Any) -> None:
        conditions = {"If_None_Match": "*"} if mode == "create" else {}
        if self._ask("PUT", path, value, **conditions)[0] == 412:
            raise FileExistsError(path)

    def put_file(self, lpath: str, rpath: str, **_: Any) -> None:
        with open(lpath, "rb") as file:
            self.pipe_file(rpath, file.read())

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        status, data = self._ask("GET", path)
        if status == 404:
            raise FileNotFoundError(path)
        return data[start:end]

    def rm_file(self, path: str) -> None:
        if self._ask("DELETE", path)[0] == 404:
            raise FileNotFoundError(path)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "size": len(self.cat_file(path)), "type": "file"}

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        host, _, prefix = self._strip_protocol(path).partition("/")  # type: ignore[assignment]
        listed = json.loads(self._ask("GET", f"{path}/")[1])
        names = {key.removeprefix(f"{prefix}/").split("/")[0] for key in listed}
        if not names:
            raise FileNotFoundError(path)
        return sorted(f"{host}/{prefix}/{name}" for name in names)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        pass


fsspec.register_implementation("bucket", BucketFiles, clobber=True)
