from __future__ import annotations

import os
import select
import stat
from pathlib import Path

from assay.errors import ConfigError

MOST_BYTES = 64 * 2**20
"""Most bytes of one file; no configuration comes near it."""
_BLOCK = 2**20


def read_config(path: Path) -> str:
    """A file that the user names. It may be a pipe (`--config <(make-config)`), but one that nobody writes to, a device
    or a folder is refused: nothing here waits for ever."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            return _read(descriptor, path).decode("utf-8")
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise ConfigError([f"{path}: no such file"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: is not valid UTF-8: {error.reason} at byte {error.start}"]) from None
    except ValueError:
        raise ConfigError([f"{str(path)!r}: is not a path: it has a null character"]) from None


def _read(descriptor: int, path: Path) -> bytes:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise ConfigError([f"{path}: is a directory, not a file"])
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise ConfigError([f"{path}: is neither a file nor a pipe"])
    blocks: list[bytes] = []
    while block := _block(descriptor, stat.S_ISFIFO(mode)):
        blocks.append(block)
        if len(blocks) * _BLOCK > MOST_BYTES and sum(map(len, blocks)) > MOST_BYTES:
            raise ConfigError([f"{path}: is larger than {MOST_BYTES // 2**20} MB"])
    if stat.S_ISFIFO(mode) and not blocks:
        raise ConfigError([f"{path}: is a pipe that nobody writes to"])
    return b"".join(blocks)


def _block(descriptor: int, waits: bool) -> bytes:
    """Bytes that the writer of a pipe has written so far; none at the end."""
    while True:
        try:
            return os.read(descriptor, _BLOCK)
        except BlockingIOError:
            if not waits:
                raise
            select.select([descriptor], [], [])
