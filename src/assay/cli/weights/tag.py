from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("name", nargs="?", help="make this tag (none: list them)")
    parser.add_argument("ref", nargs="?", help="what it names (default: the tip of the current branch)")


def run(args: Namespace) -> int:
    from assay.report.quantity import printable
    from assay.weights.repository import Repository

    repo = Repository.open(args.repo)
    if args.name is None:
        for name, tip in sorted(repo.references.tags.items()):
            print(f"{printable(name):<20} {tip[:12]}")
        return 0
    repo.tag(args.name, args.ref)
    return 0
