from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.errors import DataError
from assay.files.json_text import encode, read_json, untag
from assay.files.reading import SESSION, Unreadable
from assay.files.writing import write_atomic

FILE_NAME = "noise_floors.json"


@dataclass(frozen=True)
class NoiseFloor:
    """What identical code was seen to differ by, for one metric of one fingerprint."""

    entry: str
    metric: str
    fingerprint: str
    floor: float
    """0.04 is 4%."""
    pairs: int
    measured_at: str


def load_floors(results_dir: Path) -> list[NoiseFloor]:
    path = results_dir / FILE_NAME
    try:
        written = read_json(path, SESSION, untag, own=True)
        return [NoiseFloor(**item) for item in _items(written)]
    except FileNotFoundError:
        return []
    except (Unreadable, TypeError, KeyError) as error:
        why = error.reason if isinstance(error, Unreadable) else error
        raise DataError(f"{path}: cannot be read ({why}); delete it and run `assay calibrate` again") from None


def save_floors(results_dir: Path, floors: list[NoiseFloor]) -> Path:
    """A newer measurement of the same series replaces the older."""
    by_series = {(item.fingerprint, item.metric): item for item in [*load_floors(results_dir), *floors]}
    path = results_dir / FILE_NAME
    results_dir.mkdir(parents=True, exist_ok=True)
    write_atomic(path, encode({"floors": [asdict(item) for item in by_series.values()]}, indent=2))
    return path


def margins(floors: list[NoiseFloor]) -> Mapping[tuple[str, str], float]:
    return {(item.fingerprint, item.metric): item.floor for item in floors}


def _items(written: Any) -> list[dict[str, Any]]:
    if not isinstance(written, dict) or not isinstance(written.get("floors"), list):
        raise TypeError("it has no list of floors")
    return list(written["floors"])
