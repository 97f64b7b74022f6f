from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("url", help="a folder, or any address that fsspec knows")
    parser.add_argument("repo", help="folder to make")


def run(args: Namespace) -> int:
    from assay.weights.transfer import clone

    repo = clone(args.url, args.repo)
    print(f"cloned {args.url} to {repo.path}: {len(repo.commits.ids())} commits")
    return 0
