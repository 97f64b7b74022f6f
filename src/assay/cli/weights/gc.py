from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.weights.packs.garbage_collector import Collected


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="a repository, or the address of a remote")
    parser.add_argument("--recluster", action="store_true", help="also look for better bases, which reads everything")


def run(args: Namespace) -> int:
    from assay.weights.repository import Repository

    done = _collect_bucket(args) if "://" in args.repo else Repository.open(args.repo).gc(recluster=args.recluster)
    print(
        f"removed {done.commits_removed} commits and {done.tensors_removed} tensors; packs {done.packs_before} -> "
        f"{done.packs_after}; bytes {done.bytes_before:,} -> {done.bytes_after:,}"
    )
    return 0


def _collect_bucket(args: Namespace) -> Collected:
    from assay.weights.remotes.bucket import BucketRemote, collect_bucket
    from assay.weights.remotes.open_remote import open_remote
    from assay.weights.repository import Repository

    remote = open_remote(args.repo)
    if not isinstance(remote, BucketRemote):
        return Repository.open(remote.files.folder or args.repo).gc(recluster=args.recluster)
    if args.recluster:
        raise UsageError("an object store is not rewritten: collect a clone with --recluster, and push that elsewhere")
    return collect_bucket(remote)
