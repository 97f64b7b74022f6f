from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sinks.drive_service import FOLDER, Drive, File
from tests.sinks.moody_server import Answer
from tests.sinks.sessions import Told, a_record, wait_for

from assay.sinks import check_spec


@pytest.fixture
def drive() -> Iterator[Drive]:
    service = Drive()
    yield service
    service.server.stop()


def spec(drive: Drive, tmp_path: Path, **more: Any) -> dict[str, Any]:
    account = drive.account_file(tmp_path)
    return {
        "name": "gdrive",
        "drive_folder_id": FOLDER,
        "service_account_file": account,
        "api_root": drive.server.url,
        **more,
    }


def names(file: File) -> set[str]:
    with tarfile.open(fileobj=io.BytesIO(file.content)) as archive:
        return set(archive.getnames())


def test_a_session_is_one_archive_with_nothing_of_the_outbox(tmp_path: Path, drive: Drive) -> None:
    told = Told(tmp_path, [spec(drive, tmp_path)])
    (told.folder.path / "e/scratch").mkdir(parents=True)
    (told.folder.path / "e/scratch/big").write_text("x")
    (told.folder.path / "e/link").symlink_to("/etc/passwd")
    told.run(a_record(1))
    [status] = told.end()
    assert status.state == "delivered", status
    [file] = drive.files
    assert file.name == "nightly.tar.gz"
    assert names(file) >= {"nightly/results.jsonl", "nightly/session.json", "nightly/env.json", "nightly/e/link"}
    assert not [name for name in names(file) if "outbox" in name or "scratch" in name]
    assert dict(status.links)["Google Drive"] == "https://drive.google.com/file/d/id0/view"
    assert not list((told.folder.path / "outbox").glob("*.tar.gz"))


def big(told: Told, megabytes: int = 20) -> None:
    (told.folder.path / "noise.bin").write_bytes(os.urandom(megabytes * 1024 * 1024))


def test_after_a_503_the_upload_goes_on_where_it_was(tmp_path: Path, drive: Drive) -> None:
    told = Told(tmp_path, [spec(drive, tmp_path)])
    big(told)
    drive.server.matching = lambda request: request.method == "PUT"
    drive.server.fail_next(Answer(503), Answer(503))
    [status] = told.end()
    assert status.state == "delivered", status
    assert drive.queries == 1
    [file] = drive.files
    assert drive.bytes_taken == len(file.content)


def test_killed_in_the_middle_it_resumes_and_sends_no_byte_twice(tmp_path: Path, drive: Drive) -> None:
    told = Told(tmp_path, [spec(drive, tmp_path)])
    big(told)
    second = []

    def the_second_chunk(request: Any) -> bool:
        if request.method == "PUT" and request.body:
            second.append(request)
        return len(second) == 2 and request.method == "PUT"

    drive.server.matching = the_second_chunk
    drive.server.swallow_next()
    told.finish()
    assert drive.server.swallowed.wait(30)
    worker = told.delivery._worker
    assert worker is not None
    worker.kill()
    worker.wait()
    drive.server.matching = lambda request: True
    [status] = told.flush(tries=3)
    assert status.state == "delivered", status
    [file] = drive.files
    assert "nightly/noise.bin" in names(file)
    assert drive.bytes_taken == len(file.content)
    assert len(drive.uploads) == 1


def test_killed_after_the_last_byte_there_is_still_one_file(tmp_path: Path, drive: Drive) -> None:
    told = Told(tmp_path, [spec(drive, tmp_path)])
    drive.server.matching = lambda request: request.method == "PUT"
    drive.server.swallow_next()
    told.finish()
    assert drive.server.swallowed.wait(30)
    worker = told.delivery._worker
    assert worker is not None
    worker.kill()
    worker.wait()
    [status] = told.flush(tries=3)
    assert status.state == "delivered", status
    assert len(drive.files) == 1


def test_an_expired_upload_is_begun_again(tmp_path: Path, drive: Drive) -> None:
    told = Told(tmp_path, [spec(drive, tmp_path)])
    drive.server.matching = lambda request: request.method == "PUT"
    drive.server.fail_next(Answer(503), Answer(404, b"{}"))
    [status] = told.end()
    assert status.state == "delivered", status
    assert len(drive.uploads) == 2
    assert len(drive.files) == 1


def test_a_resumed_session_replaces_its_archive(tmp_path: Path, drive: Drive) -> None:
    told = Told(tmp_path, [spec(drive, tmp_path)])
    told.run(a_record(1))
    told.end()
    again = Told(tmp_path, [spec(drive, tmp_path)])
    drive.server.matching = lambda request: request.method == "PATCH"
    drive.server.fail_next(Answer(503))
    again.run(a_record(2))
    again.delivery.session_finished(type(again.info)(name="nightly", started_at="2026-03-01", finished_at="2026-03-02"))
    [status] = again.delivery.close(30)
    assert status.state == "delivered", status
    [file] = drive.files
    with tarfile.open(fileobj=io.BytesIO(file.content)) as archive:
        results = archive.extractfile("nightly/results.jsonl")
        assert results is not None
        assert results.read().count(b"\n") == 2


def test_a_wrong_account_file_is_pending_with_its_name(tmp_path: Path, drive: Drive) -> None:
    told = Told(tmp_path, [spec(drive, tmp_path, service_account_file=str(tmp_path / "none.json"))])
    [status] = told.end()
    wait_for(lambda: "none.json" in status.reason)
    assert status.pending == 1
    assert "drive_folder_id: sink gdrive needs it" in check_spec({"name": "gdrive"})[0]
