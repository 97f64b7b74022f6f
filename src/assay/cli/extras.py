"""This package as it is installed here, from its metadata: its extras, which of them are missing, where it is from."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution, metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from assay.files.json_text import decode

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


def requirement(repository: Path, extra: str = "") -> str:
    """Return what `pip install` takes to install this very copy in a checkout of `repository`.

    pip notes the origin in direct_url.json (PEP 610): a commit, an archive or a folder. Without it, the copy is from an
    index.
    """
    here = distribution(PACKAGE)
    name = f"{PACKAGE}[{extra}]" if extra else PACKAGE
    written = here.read_text("direct_url.json")
    if not written:
        return f"{name}=={here.version}"
    origin = decode(written)
    url = _without_credentials(origin["url"])
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    elif url.startswith("file:"):
        path, top = Path(unquote(urlsplit(url).path)).resolve(), repository.resolve()
        if path.is_relative_to(top):
            inside = path.relative_to(top).as_posix()
            return ("." if inside == "." else f"./{inside}") + (f"[{extra}]" if extra else "")
    if folder := origin.get("subdirectory"):
        url += f"#subdirectory={folder}"
    return f"{name} @ {url}"


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
