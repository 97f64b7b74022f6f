from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from assay.errors import UsageError


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("repo", help="folder of the repository")
    parser.add_argument("--preset", help="small, balanced or fast, or a preset of docs/weights.md")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a key of the configuration")


def run(args: Namespace) -> int:
    from assay.weights.repository import Repository
    from assay.weights.repository_config import repository_config

    config = repository_config(dict(_pair(text) for text in args.set), base=repository_config(args.preset))
    repo = Repository.init(args.repo, config)
    print(f"made {repo.path} ({repo.config.setting})")
    return 0


def _pair(text: str) -> tuple[str, Any]:
    import json

    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text}: write it as KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
