from __future__ import annotations

import json

from workplace import Workplace

CONFIG = """
entries:
  - name: count
    script: count.py
    metrics: {kept: {exact: true, better: higher}}
"""
SCRIPT = """
import json, sys
from pathlib import Path
out = Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
(out / "params.json").write_text("{}")
(out / "metrics.json").write_text(json.dumps({"kept": int(Path("kept.txt").read_text())}))
"""


def test_a_count_that_the_configuration_calls_exact_is_judged_from_one_run(workplace: Workplace) -> None:
    workplace.write("bench.yaml", CONFIG)
    workplace.write("count.py", SCRIPT)
    for kept, code in ((100, 0), (99, 1), (100, 0), (99, 1)):
        workplace.write("kept.txt", str(kept))
        assert workplace.assay("run", "--config", "bench.yaml").code == code
    compared = workplace.assay("compare", "--format", "json")
    rows = {row["metric"]: row for row in json.loads(compared.out)["rows"]}
    assert rows["kept"]["reason"] == "100 → 99, which is worse (an exact metric: any change counts)"
    assert rows["exec_time_s"]["verdict"] == "inconclusive"
    assert compared.code == 3
