from __future__ import annotations

from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", help="folder of the repository")
    parser.add_argument("--preset", help="small, balanced or fast, or a name of docs/weights.md")


def run(args: Namespace) -> int:
    from assay.weights.repository import Repository

    repo = Repository.init(args.path, args.preset)
    print(f"made {repo.path} ({repo.config.setting})")
    return 0
