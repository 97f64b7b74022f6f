"""Several processes push to one remote at once while others collect: whatever was acknowledged must be there.

    python -m tests.weights.two_writers URL [--writers 3] [--pushes 10]

URL is a folder that is not there yet, an address that fsspec knows, or `s3`: a local S3 server that is started for it.
Exit 1 if anything is missing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import traceback
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np
import tests.support.bucket_files  # noqa: F401  (its addresses)
from tests.support.s3_server import s3_server

from assay.weights.remotes.bucket import BucketRemote, collect_bucket
from assay.weights.remotes.open_remote import open_remote
from assay.weights.repository import Repository
from assay.weights.transfer import clone, push


@dataclass(frozen=True)
class Outcome:
    acknowledged: dict[str, str]
    """Branch to tip, as the writers were told."""
    there: dict[str, str]
    collections: int
    failures: tuple[str, ...]
    """Tracebacks of writers and collectors, problems that `verify` found."""

    @property
    def lost(self) -> set[str]:
        return {name for name, tip in self.acknowledged.items() if self.there.get(name) != tip}


def hammer(url: str, folder: Path, writers: int, pushes: int) -> Outcome:
    context = multiprocessing.get_context("spawn")
    said = context.Queue()
    done, begin = context.Event(), context.Barrier(writers)
    for number in range(writers):
        Repository.init(folder / f"writer-{number}")
    working = [context.Process(target=_write, args=(url, folder, n, pushes, begin, said)) for n in range(writers)]
    collecting = [context.Process(target=_collect, args=(url, folder, writers, done, said)) for _ in range(2)]
    for process in (*working, *collecting):
        process.start()
    acknowledged: dict[str, str] = {}
    failures: list[str] = []
    collections = ended = 0
    while ended < len(working) + len(collecting):
        kind, *rest = said.get(timeout=300)
        if kind == "pushed":
            acknowledged[rest[0]] = rest[1]
        elif kind == "collected":
            collections += rest[0]
        elif kind == "failed":
            failures.append(rest[0])
        ended += kind in ("ended", "collected", "failed")
        if ended == len(working):
            done.set()
    for process in (*working, *collecting):
        process.join()
    if failures:
        return Outcome(acknowledged, {}, collections, tuple(failures))
    copy = clone(url, folder / "copy")
    failures += copy.verify().problems
    if "://" not in url:
        failures += Repository.open(url).verify().problems
    return Outcome(acknowledged, copy.references.branches, collections, tuple(failures))


def _write(url: str, folder: Path, number: int, pushes: int, begin: Any, said: Any) -> None:
    try:
        repository = Repository.open(folder / f"writer-{number}")
        shared = np.arange(300, dtype=np.float32)
        begin.wait()
        for turn in range(pushes):
            own = np.full(200, number * 1000 + turn, np.float32)
            branch = f"writer-{number}-{turn}"
            tip = repository.commit({"shared": shared + turn, "own": own}, branch, branch=branch)
            push(repository, url, branch)
            said.put(("pushed", branch, tip))
            # What is pushed over is what collections find to remove: the others' next push may rely on it.
            repository.commit({"passing": shared - turn, "own": own}, branch=f"passing-{number}")
            push(repository, url, f"passing-{number}")
            repository.branch(f"passing-{number}", branch)
            push(repository, url, f"passing-{number}", force=True)
        said.put(("ended",))
    except BaseException:
        said.put(("failed", traceback.format_exc()))


def _collect(url: str, folder: Path, writers: int, done: Event, said: Any) -> None:
    try:
        count = 0
        while not done.is_set():
            remote = open_remote(url)
            if remote.exists():
                if isinstance(remote, BucketRemote):
                    collect_bucket(remote)
                else:
                    Repository.open(url).gc()
                count += 1
            Repository.open(folder / f"writer-{count % writers}").gc()
            # Without a pause the collectors would have the remote to themselves.
            done.wait(0.3)
        said.put(("collected", count))
    except BaseException:
        said.put(("failed", traceback.format_exc()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--pushes", type=int, default=10, help="by each writer")
    args = parser.parse_args()
    server = s3_server() if args.url == "s3" else nullcontext()
    with tempfile.TemporaryDirectory() as folder, server as bucket:
        outcome = hammer(f"{bucket}/remote" if bucket else args.url, Path(folder), args.writers, args.pushes)
    for failure in outcome.failures:
        print(failure)
    print(
        f"{len(outcome.acknowledged)} branches acknowledged, {len(outcome.lost)} lost, "
        f"{outcome.collections} collections, {len(outcome.failures)} failures"
    )
    return 1 if outcome.lost or outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
