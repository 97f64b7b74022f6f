from __future__ import annotations

from typing import Any

from assay.errors import UsageError
from assay.weights.codec.codec_methods import FORMAT
from assay.weights.formats.migration import MIGRATIONS


def check_format(where: object, number: Any) -> None:
    """Raises for any format but the present one, and says what to do."""
    if number == FORMAT and type(number) is int:
        return
    if type(number) is int and number in MIGRATIONS:
        raise UsageError(
            f"{where} has format {number}, which an older version of Assay wrote; this one reads format {FORMAT}: "
            + (
                "migrate a copy of it in a folder, and push that elsewhere"
                if "://" in str(where)
                else f"assay weights migrate {where}"
            )
        )
    if type(number) is int and number > FORMAT:
        why = "a newer version of Assay wrote it: install that one"
    else:
        why = "nothing can bring it to that: export its versions with the Assay that wrote it, and import them"
    raise UsageError(f"{where} has format {number!r}; this version of Assay reads format {FORMAT}, and {why}")
