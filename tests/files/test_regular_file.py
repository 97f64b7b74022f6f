from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from assay.errors import DataError
from assay.files.reading import MB, ReadLimit, RegularFile, Unreadable, last_lines, read_bytes, read_text, storable

RUN, USER = ReadLimit(1000), ReadLimit(1000, follow_links=True)


def reason(path: Path, limit: ReadLimit = RUN) -> str:
    with pytest.raises(Unreadable) as caught:
        read_bytes(path, limit)
    assert isinstance(caught.value, DataError)
    assert str(caught.value) == f"{path}: {caught.value.reason}"
    return caught.value.reason


def test_what_is_no_regular_file_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert reason(tmp_path / "socket") == "is a socket, not a regular file"
    assert reason(tmp_path / "fifo") == "is a FIFO, not a regular file"
    assert reason(tmp_path / "folder") == "is a directory, not a regular file"
    assert reason(Path("/dev/zero")) == "is a device, not a regular file"


def test_a_link_is_followed_only_for_a_path_that_the_user_names(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    assert reason(tmp_path / "link") == "is a symbolic link, not a regular file"
    assert read_bytes(tmp_path / "link", USER) == b"x"
    assert reason(tmp_path / "zeros", USER) == "is a device, not a regular file"


def test_a_file_that_is_not_there_is_another_thing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    for path in (tmp_path / "gone", tmp_path / "file" / "below"):
        with pytest.raises(FileNotFoundError):
            read_bytes(path, RUN)


def test_the_limit_holds_also_for_a_file_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1000)
    with RegularFile(path, RUN) as file:
        assert file.size == 1000
        path.write_bytes(b"x" * 1001)
        with pytest.raises(Unreadable, match="is larger than 1000 bytes"):
            file.read()
    assert reason(path) == "is larger than 1000 bytes"
    assert reason(path, ReadLimit(0)) == "is larger than 0 bytes"
    path.write_bytes(b"")
    os.truncate(path, 3 * MB)
    assert reason(path, ReadLimit(2 * MB)) == "is larger than 2 MB"


def test_reading_is_given_up_after_its_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    assert reason(tmp_path / "file", ReadLimit(10, seconds=-1)) == "took longer to read than -1 s"
    assert read_bytes(tmp_path / "file", ReadLimit(10, seconds=3600)) == b"x"


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_bytes(b"x" * 1001)
    before = len(os.listdir("/proc/self/fd"))
    for name in ("folder", "large"):
        reason(tmp_path / name)
    assert len(os.listdir("/proc/self/fd")) == before


def test_lines_come_one_at_a_time_from_where_one_asks(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a\n\nlonger\ncut")
    with RegularFile(path, RUN) as file:
        assert list(file.lines(100)) == [b"a\n", b"\n", b"longer\n", b"cut"]
        assert list(file.lines(100, start=3)) == [b"longer\n", b"cut"]
        with pytest.raises(Unreadable, match=r"file:3: is a line of more than"):
            list(file.lines(5))


def test_text_is_read_whatever_bytes_it_has(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n\xff two\nthree\n")
    assert read_text(path, RUN) == "one\n\ufffd two\nthree\n"
    assert last_lines(path, RUN, 1000) == ["one", "\ufffd two", "three"]
    assert last_lines(path, RUN, 8) == ["three"]


@pytest.mark.parametrize(
    ("text", "kept"), [("plain", "plain"), ("é😀", "é😀"), ("a\ud800b", "a\ufffdb"), ("\udc80", "\ufffd")]
)
def test_what_utf8_cannot_hold_is_replaced(text: str, kept: str) -> None:
    assert storable(text) == kept
    storable(text).encode()
