"""Commands that run something, in an empty folder: what they print, their exit codes and the files they leave."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden import check_golden
from transcript import TIMES, Scenario, play
from workplace import Workplace

GOLDEN = Path(__file__).parent / "golden" / "runs"
WORK = """\
import json, pathlib, sys
out = pathlib.Path(sys.argv[sys.argv.index("--benchmark-results-path") + 1])
rows = int(sys.argv[sys.argv.index("--rows") + 1]) if "--rows" in sys.argv else 5
(out / "params.json").write_text(json.dumps({"rows": rows}))
rate = {"value": 2.5, "unit": "1/s", "better": "higher"}
(out / "metrics.json").write_text(json.dumps({"is_success": True, "rows": rows, "rows_per_s": rate}))
print(f"made {rows} rows")
"""
TIMED = """\
import assay
with assay.benchmark() as b:
    with assay.Task("read"):
        pass
    b.metric("rows_per_s", 2.5, unit="1/s", better="higher")
"""
ONE = "results_dir: results\nentries:\n- {name: work, script: work.py, args: --rows 5}\n"
SESSION = """\
results_dir: results
entries:
- name: work
  script: work.py
  tags: [fast]
  requirements:
  - {metric: rows, min_value: 5}
  - {metric: is_success, exact_value: true}
- {name: timed, script: timed.py}
"""
SINKS = "sinks: [{name: csv}, {name: jsonl}, {name: junit}]\n"
TROUBLE = """\
results_dir: results
entries:
- {name: fails, command: "sh -c 'echo broken >&2; exit 3'"}
- {name: slow, command: sleep 30, timeout_s: 0.5}
- name: too_few
  script: work.py
  args: --rows 3
  requirements:
  - {metric: rows, min_value: 5}
- {name: absent, command: no-such-program-here}
"""
BUNDLED = """\
entries:
- {name: alm, script: alm_pipeline_benchmark.py, args: --input-manifest in.jsonl}
- {name: crawl, script: common_crawl_benchmark.py}
- {name: dedup, script: dedup_benchmark.py}
- {name: removal, script: removal_benchmark.py}
- {name: load, script: load_benchmark.py}
- {name: colocation, script: colocation_benchmark.py}
- {name: test, script: test_benchmark.py}
- {name: absent, script: absent_benchmark.py}
"""
MATRIX = """\
results_dir: ./results
default_timeout_s: 60
entries:
- {name: work, script: work.py, args: "--rows 4"}
"""
RELATIVE = ((r"(█[█▏▎▍▌▋▊▉]* +)\d+\.\d.*", r"\1#"),)
"""How many times as long one command takes as another."""

SCENARIOS = {
    "config": Scenario(
        """
        assay run --config session.yaml --reason "a pin" --tag pinned
        ls results
        keys results/*/env.json
        values results/*/session.json
        values results/*/results.jsonl
        cat results/*/session.log
        cat results/*/work/stdouterr.log
        values results/*/work/benchmark_results/metrics.json
        page results/*/report.html
        ls results/*/sinks
        cat results/*/sinks/metrics.csv
        cat results/*/sinks/junit.xml
        keys results/*/sinks/results.jsonl
        assay sinks status
        assay sinks flush
        assay sinks test csv --key path=test.csv
        assay run --config session.yaml --no-sink cvs
        assay run --config session.yaml --resume latest
        assay run --resume nothing
        assay rerun latest/work
        top results
        """,
        {"session.yaml": SINKS + SESSION, "work.py": WORK, "timed.py": TIMED},
        hidden=(
            (r'((?:exec_time_s|usage\.\w+|_time\w*)(?:,|" value="))[\d.e-]+', r"\1#"),
            (r' (time|hostname)="[^"]+"', r' \1="#"'),
            (r"\S*/assay-sinks-test-\w+", "TEMPORARY"),
            *TIMES,
        ),
    ),
    "chosen_entries": Scenario(
        """
        assay run --config session.yaml --list
        assay run --config session.yaml --entries-exact work --quiet --session-name mine
        assay run --config session.yaml --entries 'wo* and not timed' --set entries.work.repeat=2 --verbose
        assay run --config session.yaml --entries nobody
        assay run --config session.yaml --entries-exact nobody
        top results
        """,
        {"session.yaml": SESSION, "work.py": WORK, "timed.py": TIMED},
    ),
    "trouble": Scenario(
        """
        assay run --config trouble.yaml
        values results/*/results.jsonl
        ls results
        assay show
        """,
        {"trouble.yaml": TROUBLE, "work.py": WORK},
    ),
    "command": Scenario(
        """
        assay run --runs 2 -- true
        ls results
        keys results/*/results.jsonl
        """
    ),
    "shell": Scenario(
        """
        assay run --runs 2 --shell -- 'true && exit 4'
        assay run --runs 2 --quiet --shell --prepare 'echo made > made' --cleanup 'rm made' -- 'cat made | cat'
        assay run --runs 2 --results-dir other --parameter n 1,2 -- 'sleep 0.0{n}'
        top other
        """,
        hidden=(*RELATIVE, *TIMES),
    ),
    "joined": Scenario(
        """
        assay run --config session.yaml --join night --expect work,timed --entries-exact work
        assay run --join night --finish
        assay run --join nobody --finish
        ls results
        """,
        {"session.yaml": SESSION, "work.py": WORK, "timed.py": TIMED},
    ),
    "wrong": Scenario(
        """
        assay
        assay rum
        assay run
        assay run --config none.yaml
        assay run --config broken.yaml
        assay run --config key.yaml
        assay run --config variable.yaml
        assay run --config key.yaml -- true
        assay run --runs none -- true
        assay plan --config variable.yaml --lenient-config
        """,
        {
            "broken.yaml": "entries: [\n",
            "key.yaml": "entries:\n- {name: a, comand: 'true'}\n",
            "variable.yaml": "entries:\n- {name: a, command: 'echo ${NO_SUCH_VARIABLE}'}\n",
        },
    ),
    "plan": Scenario(
        """
        assay plan --config session.yaml
        assay plan --config trouble.yaml
        assay plan --config session.yaml --jobs
        assay plan --config session.yaml --volumes
        assay plan --config bundled.yaml
        """,
        {
            "session.yaml": SESSION,
            "trouble.yaml": TROUBLE,
            "bundled.yaml": BUNDLED,
            "work.py": WORK,
            "timed.py": TIMED,
        },
        exact=True,
    ),
    "older_form": Scenario(
        """
        assay run --matrix matrix.yaml --datasets sets.json --sink none
        assay migrate matrix.yaml --output new.yaml
        assay plan --config new.yaml
        """,
        {"matrix.yaml": MATRIX, "sets.json": "{}", "work.py": WORK},
    ),
    "ab": Scenario(
        """
        assay ab --pairs 4 --block 2 --quiet -- 'sleep 0.01' -- 'sleep 0.2'
        assay ab --pairs 2 --block 2 --quiet -- true -- false
        assay ab -- true
        top results
        """,
        hidden=((r"(?m)^(\? sleep  (?:usage\.cpu_s|exec_time_s) ).*$", r"\1#"), *TIMES),
    ),
    "ab_config": Scenario(
        """
        assay ab --config one.yaml --metric rows --pairs 8 --block 8 --quiet --a rows=5 --b rows=6
        """,
        {"one.yaml": ONE, "work.py": WORK},
    ),
    "calibrate": Scenario(
        """
        assay calibrate --config one.yaml --metric rows_per_s --pairs 6 --block 6 --quiet
        top results
        """,
        {"one.yaml": ONE, "work.py": WORK},
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_prints_returns_and_writes_the_same(workplace: Workplace, name: str) -> None:
    check_golden(GOLDEN / f"{name}.txt", play(workplace, SCENARIOS[name]))
