from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("other", help="branch, tag or commit to bring in")
    parser.add_argument("--strategy", default="refuse", help="for tensors both sides changed: refuse, ours or theirs")
    parser.add_argument("-m", "--message", default="", help="what this version is, for the log")


def run(args: Namespace) -> int:
    from assay.weights.repository import Repository

    repo = Repository.open(args.repo)
    print(f"{repo.merge(args.other, args.strategy, args.message)[:12]} on {repo.head}")
    return 0
