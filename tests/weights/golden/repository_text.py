"""A repository as a text file: for each file its path, and its bytes in base 85."""

from __future__ import annotations

import base64
from pathlib import Path

WIDTH = 100


def write_text(repository: Path, to: Path) -> None:
    lines = []
    for path in sorted(path for path in repository.rglob("*") if path.is_file() and path.name != "lock"):
        lines.append(f"file {path.relative_to(repository).as_posix()}")
        digits = base64.b85encode(path.read_bytes()).decode()
        lines += [" " + digits[at : at + WIDTH] for at in range(0, len(digits), WIDTH)]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("\n".join(lines) + "\n", encoding="ascii")


def restore(text: Path, to: Path) -> Path:
    files: dict[str, list[str]] = {}
    for line in text.read_text(encoding="ascii").splitlines():
        if line.startswith("file "):
            current = files[line.removeprefix("file ")] = []
        else:
            current.append(line[1:])
    for folder in ("commits", "packs", "tmp"):
        (to / folder).mkdir(parents=True)
    for name, digits in files.items():
        (to / name).write_bytes(base64.b85decode("".join(digits)))
    return to
