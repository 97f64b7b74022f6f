"""A disk that fills while sinks are told: delivery goes on when there is room again, and each is told once."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sinks.sessions import Told, a_record, lines, wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_the_delivery_process_outlives_a_full_disk(tmp_path: Path, disk: Path) -> None:
    diary = {"name": "diary", "class": "tests.sinks.sessions:Diary", "path": str(tmp_path / "diary")}
    told = Told(disk, [diary, {"name": "jsonl"}])
    told.run(a_record(1))
    wait_for(lambda: any(line[0] == "process_result" for line in lines(tmp_path / "diary")))
    worker = told.delivery._worker
    assert worker is not None
    told.run(a_record(2))
    with (disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="No space"):
        while True:
            filler.write(bytes(512))
    _kill_couriers(worker.pid)
    with pytest.raises(subprocess.TimeoutExpired):
        worker.wait(2.5)
    (disk / "filler").unlink()
    diary_status, _ = told.end()
    assert diary_status.state == "delivered", diary_status
    results = Counter(line[1] for line in lines(tmp_path / "diary") if line[0] == "process_result")
    assert results.keys() == {"entry-1", "entry-2"}
    log = told.folder.path / "outbox/delivery.log"
    assert "Traceback" not in log.read_text()


def _kill_couriers(worker: int) -> None:
    children = Path(f"/proc/{worker}/task/{worker}/children").read_text().split()
    for child in children:
        subprocess.run(["kill", "-9", child], check=False)
