"""What a load imports before its first request is sent: each of these packages takes a tenth of a second or more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from assay.loadgen.http.server import ScriptedServer, null_replies

CHECK = """
import sys
from assay.cli.main import _parser, _find_command
words = sys.argv[1:]
args = _parser(_find_command(words)).parse_args(words)
args.after = None
args.command_module._check(args)
from assay.api.run_inputs import RunInputs
from assay.api.run import run_new
plan = RunInputs(load=("--url=http://localhost:1",), results_dir="results").plan()
assert plan.entries[0].limits.cpus is None
print(*{"numpy", "yaml", "pyarrow", "pandas", "pydantic", "jinja2"} & sys.modules.keys())
"""
LOAD = """
import sys
from assay.benchmarks.load_benchmark import main
status = main(sys.argv[1:])
print("imported:", *{"yaml", "pandas", "scipy"} & sys.modules.keys())
sys.exit(status)
"""


def test_the_command_line_checks_and_plans_a_load_without_numpy_and_pydantic() -> None:
    words = ["load", "http://localhost:1", "--rate=5", "--objective=ttft_s:p99=0.5", "--prompt-tokens=normal:20,5"]
    ran = subprocess.run([sys.executable, "-c", CHECK, *words], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_a_load_writes_its_rows_without_pandas(tmp_path: Path) -> None:
    with ScriptedServer(null_replies(2)) as server:
        words = [f"--url={server.url}", "--model=m", "--requests=3", "--no-ceiling", "--rows=parquet"]
        command = [sys.executable, "-c", LOAD, *words, f"--benchmark-results-path={tmp_path}"]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1].split() == ["imported:"]
    assert (tmp_path / "requests.parquet").is_file()


def test_a_load_that_fails_says_why_without_its_log_below_it(tmp_path: Path) -> None:
    words = ["load", "http://127.0.0.1:1", "--model=m", f"--results-dir={tmp_path}"]
    ran = subprocess.run([sys.executable, "-m", "assay.cli.main", *words], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "load: failed\n  exited with code 2: load: http://127.0.0.1:1/v1: no connection can be made" in ran.stdout
    assert "the end of" not in ran.stdout
