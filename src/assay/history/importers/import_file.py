from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.files.json_text import parse_json
from assay.files.reading import NAMED, read_bytes
from assay.history.importers import aiperf, guidellm, hyperfine, pyperf, pytest_benchmark, vllm
from assay.history.importers.foreign import ForeignSession, MalformedForeign
from assay.record import SessionFolder
from assay.record.results_file import append_record

Reader = Callable[[Mapping[str, Any], str, str], ForeignSession]
_READERS: dict[str, tuple[Callable[[Mapping[str, Any]], bool], Reader]] = {
    "pyperf": (pyperf.is_one, pyperf.read),
    "pytest-benchmark": (pytest_benchmark.is_one, pytest_benchmark.read),
    "hyperfine": (hyperfine.is_one, hyperfine.read),
    "guidellm": (guidellm.is_one, guidellm.read),
    "aiperf": (aiperf.is_one, aiperf.read),
    "vllm bench serve": (vllm.is_one, vllm.read),
}
_MOST_OF_A_NAME = 80
"""Letters of the file's name that its folder has: the digest tells folders apart."""


def import_file(path: Path, results_dir: Path) -> SessionFolder:
    """The folder is named by the file's content: importing it twice gives the same folder."""
    content, written = _load(path)
    tool = next((tool for tool, (is_one, _) in _READERS.items() if is_one(written)), None)
    if tool is None:
        raise DataError(f"{path}: is not a file of {', '.join(_READERS)} (as JSON), nor a session folder")
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-.")[:_MOST_OF_A_NAME] or "results"
    name = f"{tool.partition(' ')[0]}-{stem}__{hashlib.sha256(content).hexdigest()[:8]}"
    folder = SessionFolder(results_dir / name)
    if SessionFolder.is_one(folder.path):
        return folder
    try:
        read = _READERS[tool][1](written, name, _modification_time(path))
    except MalformedForeign as error:
        raise DataError(f"{path}: {error} (read as a file of {tool})") from None
    _write(folder, read)
    return folder


def _load(path: Path) -> tuple[bytes, Mapping[str, Any]]:
    try:
        content = read_bytes(path, NAMED)
    except FileNotFoundError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    written = parse_json(content, path)
    return content, written if isinstance(written, Mapping) else {}


def _modification_time(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat()


def _write(folder: SessionFolder, read: ForeignSession) -> None:
    """session.json last: a folder without it is no session, so a crash half way leaves nothing taken for one."""
    folder.path.mkdir(parents=True, exist_ok=True)
    folder.results.unlink(missing_ok=True)
    folder.write_environment(read.environment)
    for record in read.records:
        append_record(folder.results, record)
    folder.write_info(read.info)
