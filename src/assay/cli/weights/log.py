from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("ref", nargs="?", help="list the tensors of this version instead of the versions")
    parser.add_argument("--name", default="*", help="only tensors whose name fits this pattern (* and ?)")


def run(args: Namespace) -> int:
    from datetime import UTC, datetime

    from assay.report.quantity import printable
    from assay.weights.repository import Repository

    repo = Repository.open(args.repo)
    if args.ref:
        for entry in repo.find(args.ref, args.name):
            shape = "x".join(map(str, entry.shape)) or "scalar"
            print(f"{entry.digest[:12]}  {entry.dtype:<14} {shape:<16} {printable(entry.name)}")
        return 0
    for commit in repo.log():
        when = datetime.fromtimestamp(commit.created_at, UTC).strftime("%Y-%m-%d %H:%M:%S")
        merged = "  (merge)" if len(commit.parents) > 1 else ""
        tensors = f"{len(commit.entries):>5} tensors"
        said = printable(f"{commit.branch:<12} {tensors}  {commit.message}")
        print(f"{commit.id[:12]}  {when}  {said}{merged}")
    return 0
