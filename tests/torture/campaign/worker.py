"""`python -m campaign.worker KIND SEED SECONDS FOLDER`: one turn of a kind, in a process that may hang or die.

Each case is written down before it is tried, so that whoever watches knows what it was. A line of JSON for each trial
goes to standard output.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from campaign.kind import Case, Kind, Trial
from campaign.kinds import KINDS


def main() -> int:
    name, seed, seconds, root = sys.argv[1], sys.argv[2], float(sys.argv[3]), Path(sys.argv[4])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    rng, until = random.Random(f"{name} {seed}"), time.monotonic() + seconds
    while time.monotonic() < until:
        case = KINDS[name].draw(rng)
        (root / "case.json").write_text(json.dumps(case))
        trial = tried(KINDS[name], case, root)
        out.write(
            json.dumps({"tried": trial.tried, "found": trial.found, "case": case if trial.found else None}) + "\n"
        )
        out.flush()
    return 0


def tried(kind: Kind, case: Case, root: Path) -> Trial:
    """What escapes the attempt itself is a finding, too: a promise was not kept, or the campaign is wrong."""
    folder = Path(tempfile.mkdtemp(dir=root))
    try:
        return kind.attempt(case, folder)
    except Exception:
        return Trial(found=[traceback.format_exc()[-3000:]])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
