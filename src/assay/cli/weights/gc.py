from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo")
    parser.add_argument("--recluster", action="store_true", help="also look for better bases, which reads everything")


def run(args: Namespace) -> int:
    from assay.weights.repository import Repository

    done = Repository.open(args.repo).gc(recluster=args.recluster)
    print(
        f"removed {done.commits_removed} commits and {done.tensors_removed} tensors; packs {done.packs_before} -> "
        f"{done.packs_after}; bytes {done.bytes_before:,} -> {done.bytes_after:,}"
    )
    return 0
