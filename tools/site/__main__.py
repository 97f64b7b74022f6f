"""`python -m tools.site`: the documentation as a site, in build/site; warnings are errors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.site.build import ROOT, build


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build", help="for site-source/ and site/")
    args = parser.parse_args()
    site = build(args.output)
    if site is None:
        return 1
    print(f"{site}/index.html; to look at it: {sys.executable} -m http.server --bind 127.0.0.1 --directory {site}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
