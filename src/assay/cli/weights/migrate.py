from __future__ import annotations

from argparse import ArgumentParser, Namespace

from assay.errors import UsageError


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")


def run(args: Namespace) -> int:
    from assay.weights.migration import migrate

    if "://" in args.repo:
        raise UsageError(f"{args.repo} is not migrated in place: migrate a copy in a folder, and push that elsewhere")
    done = migrate(args.repo)
    if not done.change:
        print(f"{args.repo} has format {done.after}, the present one: nothing to do")
        return 0
    print(
        f"{args.repo}: format {done.before} -> {done.after} ({done.change}); all {done.tensors} tensors of "
        f"{done.commits} commits were read and compared"
    )
    return 0
