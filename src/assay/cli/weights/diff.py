from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("a", help="branch, tag or commit")
    parser.add_argument("b", help="branch, tag or commit")


def run(args: Namespace) -> int:
    from assay.report.quantity import printable
    from assay.weights.repository import Repository

    diff = Repository.open(args.repo).diff(args.a, args.b)
    for sign, names in (("+", diff.added), ("-", diff.removed), ("~", diff.changed)):
        for name in names:
            print(f"{sign} {printable(name)}")
    print(
        f"{len(diff.added)} added, {len(diff.removed)} removed, {len(diff.changed)} changed, "
        f"{len(diff.unchanged)} unchanged"
    )
    return 0
