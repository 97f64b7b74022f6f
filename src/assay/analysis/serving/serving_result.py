from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from assay.analysis.fields import Fields
from assay.analysis.serving.serving_curve import ServingCurve
from assay.analysis.serving.serving_point import ServingPoint
from assay.errors import DataError
from assay.record.writing.strict_json import untag
from assay.untrusted.json_text import read_json
from assay.untrusted.read_limit import RESULT

FILE_NAME: Final = "serving.json"
VERSION: Final = 1
_MOST_POINTS = 200


@dataclass(frozen=True)
class ServingResult:
    """What `serving.json` says, as far as it can be read."""

    endpoint: str
    model: str
    points: tuple[ServingPoint, ...]
    curve: ServingCurve | None
    definitions: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> ServingResult:
        """Raises `DataError` where nothing can be shown, and FileNotFoundError."""
        whole = read_json(path, RESULT, untag)
        if not isinstance(whole, dict):
            raise DataError(f"{path}: holds a {type(whole).__name__}, not what `assay load` writes")
        written = Fields(whole)
        version = written.number("version")
        if version != VERSION:
            told = "no version" if version is None else f"version {version:g}"
            raise DataError(f"{path}: has {told}, and this Assay reads version {VERSION}")
        points = written.each("points", _MOST_POINTS, ServingPoint.read)
        if not points:
            raise DataError(f"{path}: has no load that can be read")
        said = written.inner("definitions")
        return cls(
            endpoint=written.text("endpoint"),
            model=written.text("model"),
            points=points,
            curve=ServingCurve.read(written.inner("curve")),
            definitions=tuple((str(name)[:60], said.sentence(name)) for name in list(said.written)[:60]),
        )


def serving_file(folder: Path) -> Path | None:
    path = folder / FILE_NAME
    return path if os.path.isfile(path) else None
