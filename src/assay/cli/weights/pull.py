from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("url", help="a folder, or any address that fsspec knows")
    parser.add_argument("--branch", help="default: all of them")


def run(args: Namespace) -> int:
    from assay.weights.repository import Repository
    from assay.weights.transfer import pull

    got = pull(Repository.open(args.repo), args.url, args.branch)
    print(f"fetched {got.commits} commits, {got.tensors} tensors, {got.bytes:,} bytes")
    return 0
