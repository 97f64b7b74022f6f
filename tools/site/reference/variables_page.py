"""Environment variables that the code reads or sets, each with what it does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tools.site.reference.markdown import code, page, prose, table
from tools.site.reference.sources import trees

SUMMARY = "Every environment variable that Assay reads, and those that it sets for the programs it starts."

READ = {
    "ASSAY_RESULTS_DIR": "Results folder without `--results-dir`; otherwise where this folder's last run wrote.",
    "ASSAY_NATIVE": "Highest level of the compiled library: `scalar`, `avx2`, `avx512`; `none` does without it.",
    "ASSAY_IN_CONTAINER": "`1`: paths with two places are those of the container. Set in Assay's image.",
    "ASSAY_CONTAINER_IMAGE": "Name of the container image, for `env.json`.",
    "CONTAINER_IMAGE": "The same under the name that other tools use.",
    "IMAGE_DIGEST": "Digest of that image.",
    "HOST_HOSTNAME": "Name of the host, in a container whose own name says nothing.",
    "ASSAY_PEERS_DIR": "Where `make peers-…` put other stores of weights. Default: `.peers`.",
    "CC": "C compiler for the compiled library. Default: gcc, then cc.",
    "NO_COLOR": "Set: no colour in the terminal.",
    "TERM": "`dumb`: no colour and no cursor movement.",
    "XDG_STATE_HOME": "Below it Assay remembers where each folder's last run wrote. Default: `~/.local/state`.",
    "RAY_ADDRESS": "Ray cluster that executors use; without it one is started for the run.",
    "RAY_TMPDIR": "Where Ray keeps its sockets and logs.",
    "CUDA_VISIBLE_DEVICES": "GPUs that Assay, and so its programs, may see.",
    "CUDA_MPS_PIPE_DIRECTORY": "Where CUDA's Multi-Process Service listens. Default: `/tmp/nvidia-mps`.",
    "SLACK_BOT_TOKEN": "Token of the Slack sink's bot, where `bot_token` is not given.",
    "WANDB_API_KEY": "Key of the W&B sink, where `api_key` is not given; without one it works offline.",
    "WANDB_BASE_URL": "Server of the W&B sink, where `base_url` is not given.",
    "MLFLOW_TRACKING_URI": "Server of the MLflow sink, where `tracking_uri` is not given.",
    "GOOGLE_APPLICATION_CREDENTIALS": "Key file of the Google Drive sink, where `service_account_file` is not given.",
    "GITHUB_STEP_SUMMARY": "File that the GitHub summary sink appends to; GitHub sets it.",
    "ASSAY_BENCHMARK_WORKERS": "Weight suites: most concurrent users.",
    "ASSAY_BENCHMARK_MEMORY_LIMIT": "Weight suites, megabytes: larger models are left out.",
    "ASSAY_BENCHMARK_TEMP_DIR": "Weight suites: where stores are made.",
    "ASSAY_BENCHMARK_LOG_LEVEL": "Weight suites: `DEBUG` … `CRITICAL`.",
    "ASSAY_BENCHMARK_IO_INTENSIVE": "Weight suites: adds the scenario with durable writes and cold reads.",
    "ASSAY_STORAGE_COMPRESSION": "Weight suites: setting of our store, `small`, `balanced` or `fast`.",
    "ASSAY_ENABLE_SIMD": "Weight suites, `false`: compiled code without vector instructions.",
    "ASSAY_USE_MMAP": "Weight suites, `false`: packs are read instead of mapped.",
    "ASSAY_ENABLE_STREAMING": "Weight suites: the store's `streaming_operations`.",
    "ASSAY_DEBUG": "Weight suites: debug log, with the traceback of a scenario that failed.",
    "ASSAY_PURE": "While a wheel is built, `1`: without the compiled library, for every platform.",
}
SET = {
    "ASSAY_SESSION": "Folder of the session, for everything that it starts.",
    "ASSAY_RUN_ID": "Id of the run.",
    "ASSAY_ENTRY": "Name of the entry.",
    "ASSAY_BENCHMARK_RESULTS_PATH": "Folder for `params.json` and `metrics.json`, as `--benchmark-results-path` says.",
    "ASSAY_SCRATCH_DIR": "Folder for whatever the run needs on disk; deleted afterwards unless told not to.",
    "ASSAY_SERVICE_URL": "Address of the entry's service.",
    "ASSAY_SERVICE_HOST": "Its host.",
    "ASSAY_SERVICE_PORT": "Its port.",
    "ASSAY_GITLAB_TOKEN": "Project access token with which `assay ci` writes its note on a merge request of GitLab.",
    "ASSAY_MARK": "By which what a killed supervisor left behind is found and ended.",
    "ASSAY_SINK": "Name of the sink, in the process that delivers to it.",
    "ASSAY_STAND_INS_FILE": "File that names the modules which stood in for another framework's.",
    "RAY_USAGE_STATS_ENABLED": "`0`: Ray reports nothing to its makers.",
}
_OUTSIDE = {"PATH", "HOME", "PYTHONPATH", "PYTHONUNBUFFERED", "LANG", "COLUMNS"}
"""Everybody's variables, which mean here what they mean everywhere."""


def variables_page() -> str:
    return page("Environment variables", SUMMARY, _parts())


def _parts() -> Iterator[str]:
    yield "## Read by Assay { #read }"
    yield table(["variable", "what it does"], [[code(name), prose(said)] for name, said in READ.items()])
    yield (
        "Those of the weight suites are also read under their older names, with `CORAL_` for `ASSAY_`. "
        "A secret that a session file has in clear is asked for as `ASSAY_SINK_<SINK>_<KEY>` by `assay sinks flush`. "
        "`${VAR}` in a session file may name any variable."
    )
    yield "## Set for programs { #set }"
    yield table(["variable", "what it holds"], [[code(name), prose(said)] for name, said in SET.items()])


@cache
def named_in_code() -> frozenset[str]:
    """Every `ASSAY_…` that stands in the code, and every other name that the environment is asked for."""
    found: set[str] = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value} if re.fullmatch(r"ASSAY_[A-Z_]*[A-Z]", node.value) else set()
            found |= set(_asked(node))
    return frozenset(found - _OUTSIDE)


def _asked(node: ast.AST) -> Iterator[str]:
    """`os.environ["X"]`, `os.environ.get("X")` and `os.getenv("X")`."""
    match node:
        case ast.Subscript(value=where, slice=ast.Constant(value=str(name)), ctx=ast.Load()) if _is_environ(where):
            yield name
        case ast.Call(func=ast.Attribute(value=where, attr="get"), args=[ast.Constant(value=str(name)), *_]) if (
            _is_environ(where)
        ):
            yield name
        case ast.Compare(left=ast.Constant(value=str(name)), comparators=[where]) if _is_environ(where):
            yield name


def _is_environ(node: ast.expr) -> bool:
    return ast.unparse(node) == "os.environ"
