from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

from assay.errors import DataError, MissingExtra, UsageError

TRIES = 3
PAUSE_S = 5.0
"""Seconds between tries of one file: servers of archives refuse now and then."""


def read_addresses(file: Path, limit: int | None = None) -> list[str]:
    """Addresses, one a line; blank lines and those with `#` in front are left out."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read: {error}") from None
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")][:limit]


def file_name(address: str) -> str:
    """Name under which the file of an address is kept."""
    return address.rstrip("/").rsplit("/", 1)[-1]


def fetch(addresses: Sequence[str], folder: Path, tell: Callable[[str], object]) -> int:
    """Copies files into a folder, leaving out what is there already; returns how many were copied.

    A file is written aside and renamed, so that one that is there is whole. `tell` hears of each before it is copied.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made: {error}") from None
    missing = [address for address in addresses if not (folder / file_name(address)).exists()]
    for number, address in enumerate(missing, 1):
        tell(f"fetching {number} of {len(missing)}: {address}")
        _copy(address, folder / file_name(address))
    return len(missing)


def _copy(address: str, target: Path) -> None:
    try:
        import fsspec
    except ImportError:
        raise MissingExtra("fsspec", "pipeline") from None
    aside = target.with_name(f".{target.name}.part")
    for attempt in range(1, TRIES + 1):
        try:
            with fsspec.open(address, "rb") as source, aside.open("wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            aside.replace(target)
            return
        except Exception as error:  # noqa: BLE001 - every protocol has errors of its own
            aside.unlink(missing_ok=True)
            if attempt == TRIES or isinstance(error, FileNotFoundError | ValueError | ImportError):
                why = " ".join(str(error).split()) or type(error).__name__
                raise DataError(f"{address}: cannot be fetched: {why}") from None
        time.sleep(PAUSE_S)


SITE = "https://data.commoncrawl.org/"
CRAWL = "CC-MAIN-2024-51"
"""Always the same one by default, so that what was measured on two nights can be compared."""
KEPT = "warc.paths"
_END = "# that is all of it"
_LONGEST_LINE = 4096


@dataclass(frozen=True)
class CrawlListing:
    """Where the archives of a crawl are: one path a line, below the site's root, in `warc.paths.gz`."""

    crawl: str
    """Its name, `CC-MAIN-2024-51`, or the address of a listing."""

    @property
    def address(self) -> str:
        named = re.fullmatch(r"[A-Za-z0-9_-]+", self.crawl)
        return urljoin(SITE, f"crawl-data/{self.crawl}/warc.paths.gz") if named else self.crawl

    def archives(self, limit: int, folder: Path) -> list[str]:
        """Addresses of the first so many. They are kept in the folder the archives go to: once all are there, nobody
        asks the network again."""
        if limit < 1:
            raise UsageError(f"--url_limit: {limit} is not a number of archives")
        kept = self._read_kept(folder)
        if len(kept) >= limit or kept[-1:] == [_END]:
            return [address for address in kept if address != _END][:limit]
        addresses = [self._address_of(path) for path in self._read(limit)]
        end = [_END] if len(addresses) < limit else []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            aside = folder / f".{KEPT}.part"
            aside.write_text("\n".join([f"# {self.address}", *addresses, *end]) + "\n", encoding="utf-8")
            aside.replace(folder / KEPT)
        except OSError as error:
            raise DataError(f"{folder}: cannot be written: {error}") from None
        return addresses

    def _read_kept(self, folder: Path) -> list[str]:
        first, *addresses = _lines(folder)
        return addresses if first == f"# {self.address}" else []

    def _read(self, limit: int) -> list[str]:
        try:
            import fsspec
        except ImportError:
            raise MissingExtra("fsspec", "pipeline") from None
        paths: list[str] = []
        try:
            with fsspec.open(self.address, "rb", compression="infer") as stream:
                while len(paths) < limit and (line := stream.readline(_LONGEST_LINE)):
                    paths += [line.decode().strip()] if line.strip() else []
        except Exception as error:  # noqa: BLE001 - every protocol has errors of its own
            said = " ".join(str(error).split())
            gone = isinstance(error, FileNotFoundError)  # of which fsspec says only the address
            why = f"cannot be read: {'it is not there' if gone else said or type(error).__name__}"
            raise DataError(f"{self.address}: {why}; archives can also be put into --download_path by hand") from None
        if not paths:
            raise DataError(f"{self.address}: names no archive")
        return paths

    def _address_of(self, path: str) -> str:
        """Only ever below the listing's own site: what it says is not trusted to name anything else."""
        if "://" in path or ".." in path.split("/"):
            raise DataError(f"{self.address}: {path[:200]!r} is not a path below the site")
        before, below, _ = self.address.partition("/crawl-data/")
        root = before if below else self.address.rpartition("/")[0]
        return f"{root}/{path.lstrip('/')}"


def crawl_of(folder: Path) -> str | None:
    """The listing whose archives were downloaded there, perhaps not all that were asked for."""
    first, *_ = _lines(folder)
    return first.removeprefix("# ") or None


def _lines(folder: Path) -> list[str]:
    try:
        return (folder / KEPT).read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, UnicodeDecodeError):
        return [""]
