from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("url", help="a folder, or any address that fsspec knows")
    parser.add_argument("--branch", help="default: the current one")
    parser.add_argument("--force", action="store_true", help="even if the other side has commits that are not here")


def run(args: Namespace) -> int:
    from assay.weights.repository import Repository
    from assay.weights.transfer import push

    sent = push(Repository.open(args.repo), args.url, args.branch, args.force)
    print(f"sent {sent.commits} commits, {sent.tensors} tensors, {sent.bytes:,} bytes")
    return 0
