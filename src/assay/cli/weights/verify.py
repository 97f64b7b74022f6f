from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")


def run(args: Namespace) -> int:
    from assay.report.quantity import printable
    from assay.weights.repository import Repository

    found = Repository.open(args.repo).verify()
    for problem in found.problems:
        print(printable(str(problem)))
    outcome = "all good" if found.passed else f"{len(found.problems)} problems"
    print(f"{outcome}: {found.tensors} tensors, {found.commits} commits, {found.packs} packs")
    return 0 if found.passed else 1
