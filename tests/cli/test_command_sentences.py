"""Every sentence of `plan`, `doctor` and the configuration errors, printed."""

from __future__ import annotations

from pathlib import Path

import pytest
from sentence_catalogue import Cases, assert_all_are_there, assert_golden, assert_plain, said

from assay.cli import doctor_sentences, plan_sentences
from assay.document import sentences

GOLDEN = Path(__file__).parent / "golden" / "sentences.txt"

CASES: Cases = {
    plan_sentences: {
        "places": [("/data/results", "/data/results/artifacts")],
        "entries_and_runs": [(1, 1), (2, 12)],
        "runs": [(1, 0, 0, 600.0), (6, 0, 0, 9.0), (6, 1, 1, 7200.0), (1, 2, 3, 0.5)],
        "after": [(["fetch", "prepare"],)],
        "cluster": [({"num_cpus": 4},), ({},)],
        "requires": [("rows_per_s", ["≥ 1", "≤ 9"]), ("loss", ["at most 1% worse than the recent level"])],
        "problem": [("data set cc: /data/cc.parquet does not exist",)],
        "sinks": [(["slack", "mlflow"],), ([],)],
        "warning": [("other work keeps 1.2 CPUs busy",)],
    },
    doctor_sentences: {
        "python": [("3.11.7", "/usr/bin/python")],
        "machine": [("AMD EPYC", 1, 24.0), ("AMD EPYC", 2, 24.0)],
        "gpus": [(["A100", "A100"], "550.1", "12.4")],
        "no_gpu": [("", "NVML: NVML Shared Library Not Found"), ("550.1", "")],
        "disk": [(69.1, True), (0.5, False)],
        "load": [(0.1, 1, True), (12.7, 2, False)],
        "governor": [("performance", True), ("powersave", False)],
        "isolation": [(True, ""), (False, "unshare: Operation not permitted")],
        "program": [("/usr/bin/git", "commits in records"), (None, "commits in records")],
        "extra": [("assay-bench", "ray", []), ("assay-bench", "ray", ["ray", "pyarrow"])],
        "no_extras_known": [("assay-bench",)],
    },
    sentences: {
        "wrong_value": [
            ("model_type", "Input should be a valid dictionary or instance of EntryConfig", ["name"]),
            ("dict_type", "Input should be a valid dictionary"),
            *((kind, "") for kind in sorted(sentences._KINDS)),
            ("greater_than_equal", "Input should be greater than or equal to 0"),
            ("value_error", "Value error, a name may hold letters"),
        ],
        "broken_yaml": [
            ("found character that cannot start any token", "", ["a:", "\t- b"], 1, 0, None),
            ("found unexpected end of stream", "while scanning a quoted scalar", ['a: "b'], 1, 0, (1, 4)),
            ("found unknown escape character", "", ['a: "\\d"'], 0, 4, None),
            ("did not find expected ',' or ']'", "", ["a: [1", "b: 2"], 1, 1, (1, 4)),
            ("did not find expected ',' or '}'", "", ["a: {b: 1"], 1, 0, (1, 4)),
            ("found character that cannot start any token", "", ["a: @b"], 0, 3, None),
            ("mapping values are not allowed in this context", "", ["a: b: c"], 0, 4, None),
            ("did not find expected key", "", ["a:", "   b: 1", "  c: 2"], 2, 2, None),
            ("did not find expected key", "", ['a: "x" y: 2'], 0, 7, None),
        ],
    },
}
SAID = said(CASES)


def test_every_sentence_is_printed_here() -> None:
    assert_all_are_there(CASES)


def test_they_read_as_they_did() -> None:
    assert_golden(GOLDEN, SAID)


@pytest.mark.parametrize(("where", "text"), SAID)
def test_a_sentence_is_short_and_plain(where: str, text: str) -> None:
    assert_plain(text)
