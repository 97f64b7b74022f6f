from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace


def arguments(parser: ArgumentParser) -> None:
    pass


def run(args: Namespace) -> int:
    """Prints what a session YAML may hold, for editors and other tools."""
    from assay.config.session_config import session_schema

    print(json.dumps(session_schema(), indent=2))
    return 0
