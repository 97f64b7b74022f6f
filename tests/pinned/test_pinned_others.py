"""The commands that neither run nor look at a session: files to start from, data, sinks, weights, the schema."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from golden import check_golden
from transcript import ROOT, Scenario, play
from workplace import Workplace

from assay import __version__

GOLDEN = Path(__file__).parent / "golden" / "others"
CURATOR = """\
results_path: ./results
datasets_path: ./data
default_timeout_s: 60
entries:
- name: dedup
  enabled: true
  script: dedup_benchmark.py
  args: >-
    --benchmark-results-path={session_entry_dir}
    --input-path={datasets_path}/documents
"""
OLDER = ("nightly_matrix.yaml", "dataset_paths.json")
SCENARIOS = {
    "init": Scenario(
        """
        assay init
        assay init
        assay init new
        ls .
        assay plan --config assay.yaml
        """,
        exact=True,
    ),
    "init_ci": Scenario(
        """
        assay init --ci
        assay init gitlab --ci gitlab
        assay init slurm --ci slurm
        assay init other --ci jenkins
        ls .
        """,
        exact=True,
    ),
    "init_examples": Scenario("assay init --examples", exact=True),
    "schema": Scenario("assay schema", exact=True),
    "sinks": Scenario(
        """
        assay sinks list
        assay sinks dashboard
        assay sinks
        assay sinks test nothing
        """,
        exact=True,
    ),
    "data": Scenario(
        """
        assay data alm in/audio.jsonl --recordings 3
        digest in/audio.jsonl
        assay data documents in/text --documents 20
        digest in/text/documents/part-00000.jsonl
        digest in/text/duplicates.jsonl
        assay data warc in/crawl --files 1 --pages 3
        digest in/crawl/truth.jsonl
        assay data questions in/questions --towns 2
        digest in/questions/questions.jsonl
        assay data wrac in/other
        ls in
        """,
        exact=True,
    ),
    "migrate": Scenario(
        """
        assay migrate nightly_matrix.yaml --datasets dataset_paths.json
        assay migrate curator.yaml
        assay migrate none.yaml
        """,
        {"curator.yaml": CURATOR, **{name: (ROOT / "examples" / name).read_text() for name in OLDER}},
        exact=True,
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_command_answers_and_writes_the_same(workplace: Workplace, name: str) -> None:
    check_golden(GOLDEN / f"{name}.txt", play(workplace, SCENARIOS[name]))


def test_the_version(workplace: Workplace) -> None:
    answer = workplace.assay("--version")
    assert answer.out.split()[:2] == ["assay", __version__]
    assert answer.code == 0


def test_doctor_looks_at_the_same_things(workplace: Workplace) -> None:
    """What it finds is this machine's; what it looks at is not."""
    answer = workplace.assay("doctor", COLUMNS="100")
    looked = [line[2:].partition("  ")[0] for line in answer.out.splitlines()]
    check_golden(GOLDEN / "doctor.txt", "".join(f"{each}\n" for each in looked))


def _write_model(path: Path, tensors: dict[str, list[float]]) -> None:
    """A safetensors file, by hand: its length, a head of JSON, the numbers."""
    head, data = {}, b""
    for name, values in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        head[name] = {"dtype": "F32", "shape": [len(values)], "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


WEIGHTS = Scenario(
    """
    assay weights init repo --preset balanced
    assay weights init repo
    assay weights init other --preset larger
    assay weights commit repo one.safetensors -m first
    assay weights branch repo side --switch
    assay weights import repo two.safetensors -m second
    assay weights branch repo
    assay weights log repo
    assay weights log repo main
    assay weights log nowhere
    assay weights tag repo v1 main
    assay weights tag repo
    assay weights diff repo main side
    assay weights merge repo main
    assay weights export repo v1 whole.safetensors
    assay weights checkout repo v1 part.safetensors --name a*
    assay weights checkout repo nobody part.safetensors
    digest part.safetensors
    assay weights stats repo
    assay weights stats repo --json
    assay weights gc repo
    assay weights verify repo
    assay weights migrate repo
    assay weights push repo remote
    assay weights clone remote copy
    assay weights pull copy remote
    ls repo
    ls copy
    """,
    # A commit holds its time, and is compressed.
    hidden=(
        (r"(?m)(stored bytes +|stored_bytes\": |ratio +|ratio\": )[\d,.]+?(?=[,}]? |[}]?$)", r"\1#"),
        (r"bytes [\d,]+ -> [\d,]+", "bytes # -> #"),
        (r"[\d,]{4,} bytes", "# bytes"),
    ),
)


def test_versions_of_weights(workplace: Workplace) -> None:
    base = [number / 7 for number in range(1024)]
    near = [value + 0.25 if at % 50 == 0 else value for at, value in enumerate(base)]
    _write_model(workplace.folder / "one.safetensors", {"a": base, "b": base[::-1]})
    _write_model(workplace.folder / "two.safetensors", {"a": near, "b": base[::-1], "c": base})
    check_golden(GOLDEN / "weights.txt", play(workplace, WEIGHTS))
