from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("name", nargs="?", help="make this branch (none: list them)")
    parser.add_argument("ref", nargs="?", help="where it begins (default: the tip of the current branch)")
    parser.add_argument("--switch", action="store_true", help="commits go to it from now on")
    parser.add_argument(
        "--delete", action="store_true", help="delete the branch; versions that nothing else leads to go with gc"
    )


def run(args: Namespace) -> int:
    from assay.report.quantity import printable
    from assay.weights.repository import Repository

    repo = Repository.open(args.repo)
    references = repo.references
    if args.name is None:
        for name, tip in sorted(references.branches.items()):
            print(f"{'*' if name == references.head else ' '} {printable(name):<20} {tip[:12]}")
        return 0
    if args.delete:
        repo.delete_branch(args.name)
        return 0
    if args.ref or args.name not in references.branches:
        repo.branch(args.name, args.ref)
    if args.switch:
        repo.switch(args.name)
    return 0
