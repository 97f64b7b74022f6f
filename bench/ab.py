"""`make bench-ab`: is `assay ab` right on this machine? Identical code and 10% more work, 20 times each.

Exit code 1 unless at most one of the first is called different and at least 18 of the second are found.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from assay.cli.main import main as assay

TIMES = 20
UNITS = 100
WORK = Path(__file__).parent / "work.py"


def command(units: int) -> str:
    return f"{sys.executable} -I -S {WORK} {units}"


def experiment(results: str, a: int, b: int) -> dict[str, object]:
    said = StringIO()
    with redirect_stdout(said):
        assay(["ab", "--quiet", "--format", "json", "--results-dir", results, "--", command(a), "--", command(b)])
    return json.loads(said.getvalue())  # type: ignore[no-any-return]


def run(title: str, units: int, results: str) -> Counter[str]:
    print(f"\n{title}")
    counted: Counter[str] = Counter()
    for number in range(1, TIMES + 1):
        start = time.monotonic()
        rows = experiment(results, UNITS, units)["rows"]
        assert isinstance(rows, list)
        verdicts = {row["verdict"] for row in rows}
        overall = next((v for v in ("regressed", "improved", "inconclusive", "equivalent") if v in verdicts), "none")
        counted[overall] += 1
        words = "; ".join(f"{row['metric']} {row['verdict']} {_change(row)}" for row in rows)
        pairs = rows[0]["head_runs"]
        print(f"  {number:2d}: {overall}, {pairs} pairs, {time.monotonic() - start:.0f} s: {words}", flush=True)
    print(f"  {dict(counted)}")
    return counted


def _change(row: dict[str, float]) -> str:
    ratio, low, high = (row[name] - 1 for name in ("ratio", "low", "high"))
    return f"{ratio:+.1%} ({low:+.1%} to {high:+.1%})"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="assay-bench-ab-") as results:
        same = run("identical code", UNITS, results)
        more = run("10% more work", UNITS * 11 // 10, results)
    alarms, found = same["regressed"] + same["improved"], more["regressed"]
    print(f"\nidentical code called different: {alarms} of {TIMES} (at most 1 wanted)")
    print(f"10% more work found: {found} of {TIMES} (at least 18 wanted)")
    return 0 if alarms <= 1 and found >= 18 else 1


if __name__ == "__main__":
    raise SystemExit(main())
