"""Draws three walks through the rooms into docs/architecture.md, traced from real runs; `--check` compares instead.

A run, a recording and a tensor each go through once unseen, so that everything is imported, and once traced. A room
that is entered again after it was left has its reason in tools/walk_reasons.py, or the tool fails.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.draw_rooms import ALWAYS, PAGE
from tools.room_trace import OUTSIDE, RoomTrace, compiled_calls_seen
from tools.walk_reasons import REASONS

END = "<!-- end of the walk -->"
SESSION = "results_dir: results\nentries:\n  - name: small\n    script: small.py\n"
SCRIPT = "import assay\n\nwith assay.benchmark() as b:\n    b.metric('rows', 1, exact=True)\n"


def room_of(file: Path) -> str:
    return OUTSIDE if len(file.parts) == 1 or file.parts[0] in ALWAYS else file.parts[0]


def weight_room_of(file: Path) -> str:
    """Rooms inside weights/ by their own names."""
    return file.parts[1] if file.parts[0] == "weights" and len(file.parts) > 2 else room_of(file)


def prepare_run(folder: Path) -> None:
    (folder / "small.py").write_text(SCRIPT, encoding="utf-8")
    (folder / "small.yaml").write_text(SESSION, encoding="utf-8")


def walk_run(_: Path) -> None:
    command("run", "--config", "small.yaml")


def prepare_recording(_: Path) -> None:
    command("data", "alm", "one.jsonl", "--recordings", "1")


def walk_recording(here: Path) -> None:
    from assay.benchmarks.alm_pipeline_benchmark import main

    if main(["--benchmark-results-path", str(here / "results"), "--input-manifest", "one.jsonl"]) != 0:
        raise RuntimeError("the ALM benchmark failed")


def prepare_tensor(_: Path) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    save_file({"weight": np.random.default_rng(0).standard_normal((256, 64), np.float32)}, "one.safetensors")


def walk_tensor(here: Path) -> None:
    command("weights", "init", str(here / "repository"))
    command("weights", "import", str(here / "repository"), "one.safetensors")
    command("weights", "checkout", str(here / "repository"), "main", str(here / "out.safetensors"))


def command(*words: str) -> None:
    from assay.cli.main import main

    if main(words) != 0:
        raise RuntimeError(f"assay {' '.join(words)} failed")


@dataclass(frozen=True)
class Walk:
    name: str
    room_of: Callable[[Path], str]
    prepare: Callable[[Path], None]
    go: Callable[[Path], None]
    """Once through, from the folder that was prepared; what it writes goes into the one it is given."""

    @property
    def begin(self) -> str:
        return f"<!-- {self.name}: drawn by tools/trace_walks.py -->"

    def traced(self) -> RoomTrace:
        trace = RoomTrace(self.room_of)
        with TemporaryDirectory() as name, chdir(name):
            folder = Path(name)
            self.prepare(folder)
            for way in ("unseen", "traced"):
                (folder / way).mkdir()
            self.go(folder / "unseen")
            with compiled_calls_seen(), trace.running():
                self.go(folder / "traced")
        return trace


WALKS = (
    Walk("a run", room_of, prepare_run, walk_run),
    Walk("a recording", room_of, prepare_recording, walk_recording),
    Walk("a tensor", weight_room_of, prepare_tensor, walk_tensor),
)


def drawing(walk: Walk, trace: RoomTrace) -> str:
    lines = ["```mermaid", "sequenceDiagram", "    autonumber"]
    for arrow in trace.arrows.values():
        line = "-->>" if arrow.back else "->>"
        function = arrow.first.partition(".<")[0]
        lines.append(f"    {arrow.caller or 'you'}{line}{arrow.callee}: {function}")
    lines += ["```", ""]
    for room, callers in sorted(trace.again.items()):
        by = ", ".join(sorted(caller or "you" for caller in callers))
        lines.append(f"- `{room}` is entered again (by {by}): {REASONS[walk.name].get(room, '?')}")
    return "\n".join(lines)


def unexplained(walk: Walk, trace: RoomTrace) -> list[str]:
    """A sentence for each room that is entered again and has no reason, and for each reason that is not needed."""
    reasons = REASONS[walk.name]
    missing = [f"{walk.name}: {room} is entered again after it was left" for room in trace.again if room not in reasons]
    needless = [f"{walk.name}: {room} is entered once, and has a reason" for room in reasons if room not in trace.again]
    return missing + needless


def redrawn(page: str, walk: Walk, trace: RoomTrace) -> str:
    before, _, rest = page.partition(walk.begin)
    after = rest.partition(END)[2]
    return f"{before}{walk.begin}\n{drawing(walk, trace)}\n{END}{after}"


def main() -> int:
    page = drawn = PAGE.read_text(encoding="utf-8")
    wrong = []
    for walk in WALKS:
        with TemporaryDirectory() as state, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            os.environ["XDG_STATE_HOME"] = state
            trace = walk.traced()
        wrong += unexplained(walk, trace)
        drawn = redrawn(drawn, walk, trace)
    if "--check" not in sys.argv:
        PAGE.write_text(drawn, encoding="utf-8")
    elif drawn != page:
        wrong.append("docs/architecture.md: the walks are out of date: python -m tools.trace_walks")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
