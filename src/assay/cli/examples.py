"""The example sessions and colocation files: beside the package in a wheel, at the top of a checkout."""

from __future__ import annotations

from pathlib import Path

from assay.errors import DataError

PACKAGE = Path(__file__).parent.parent
TEXT = (".yaml", ".yml", ".py", ".json", ".ipynb")


def example_files(folder: Path) -> dict[Path, str]:
    """What `assay init --examples` writes: each file's place below `folder`, and its text."""
    source = next(
        (place for place in (PACKAGE / "examples", PACKAGE.parent.parent / "examples") if place.is_dir()), None
    )
    if source is None:
        raise DataError("this copy of Assay was installed without its examples; they are in its source distribution")
    found = sorted(path for path in source.rglob("*") if path.suffix in TEXT)
    return {folder / "examples" / path.relative_to(source): path.read_text(encoding="utf-8") for path in found}
