"""The extras of this package and what of them is missing here, from the package's own metadata."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution, metadata

PACKAGE = "assay-bench"
NOT_FOR_USERS = {"all", "dev", "lock"}
_IN_EXTRA = re.compile(r"""(?P<name>[\w.-]+)[^;]*;.*extra == ['"](?P<extra>[\w-]+)['"]""")


def extras() -> dict[str, list[str]]:
    """Each with the distributions it brings; what an extra takes from another is written out in the metadata."""
    said = metadata(PACKAGE)
    written = [found for line in said.get_all("Requires-Dist", []) if (found := _IN_EXTRA.match(line))]
    names = [name for name in said.get_all("Provides-Extra", []) if name not in NOT_FOR_USERS]
    return {name: [line["name"] for line in written if line["extra"] == name] for name in names}


def missing(extra: str) -> list[str]:
    """Each once: an extra may ask for more of what another one, which it takes over, has already."""
    return [name for name in dict.fromkeys(extras()[extra]) if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
