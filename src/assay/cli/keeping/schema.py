from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    pass


def run(args: Namespace) -> int:
    """Prints what a session YAML may hold, for editors and other tools."""
    from assay.config.json_schema import session_schema

    print(json.dumps(session_schema(), indent=2))
    return 0
