"""Without the compiled library: one message that says why and what to do, and records that cannot be mixed up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from workplace import Workplace

from assay.errors import UsageError
from assay.native import library

FIXTURE = Path("tests/fixtures/audio/alm/sample_input.jsonl")
SESSION = """
entries:
  - name: alm
    script: alm_pipeline_benchmark.py
    args: --benchmark-results-path={session_entry_dir} --input-manifest=manifest.jsonl
"""


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked for again, and forgotten afterwards."""
    library._found.cache_clear()
    monkeypatch.delenv(library.LIMIT, raising=False)
    yield  # type: ignore[misc]
    library._found.cache_clear()


@pytest.mark.slow
def test_runs_with_and_without_it_do_not_share_a_fingerprint(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.write("assay.yaml", SESSION.replace("manifest.jsonl", str(tmp_path / "manifest.jsonl")))
    shutil.copy(FIXTURE, tmp_path / "manifest.jsonl")
    for limit in ("none", "scalar", "scalar"):
        answer = place.assay("run", "--config", "assay.yaml", ASSAY_NATIVE=limit)
        assert answer.code == 0, answer.err
    without, scalar, again = (next(iter(session.records())) for session in place.sessions())
    assert without.script_params["kernel"] == "none"
    assert scalar.script_params["kernel"].startswith("scalar ")
    assert without.fingerprint != scalar.fingerprint
    assert scalar.fingerprint == again.fingerprint
    (warning,) = without.warnings
    assert warning.startswith("ALM curation runs in plain Python, far slower: the compiled library is not used")
    assert scalar.warnings == ()
    assert without.script_metrics["output_digest"] == scalar.script_metrics["output_digest"]


@pytest.mark.usefixtures("fresh")
def test_a_library_that_is_missing_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "PATH", tmp_path / "libassay.so")
    assert library.library() is None
    assert library.kernel() == "none"
    said = library.absence() or ""
    assert said.startswith(f"the compiled library is missing ({tmp_path / 'libassay.so'})")
    assert "install it again" in said


@pytest.mark.usefixtures("fresh")
def test_a_library_of_another_machine_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libassay.so").write_bytes(b"\x7fELF" + bytes(100))
    monkeypatch.setattr(library, "PATH", tmp_path / "libassay.so")
    assert library.library() is None
    assert (library.absence() or "").startswith("the compiled library cannot be loaded (")


@pytest.mark.usefixtures("fresh")
def test_a_level_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.LIMIT, "sse9")
    with pytest.raises(UsageError, match="ASSAY_NATIVE=sse9: it is none, scalar, avx2 or avx512"):
        library.library()


def test_a_program_can_warn(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.write("p.py", "import assay\nwith assay.benchmark() as b:\n    b.metric('x', 1)\n    b.warn('it rained')\n")
    place.write("assay.yaml", "entries:\n  - name: p\n    script: p.py\n")
    assert place.assay("run", "--config", "assay.yaml").code == 0
    (record,) = place.sessions()[0].records()
    assert record.warnings == ("it rained",)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("[", "warnings.json"),
        ("{}", "warnings.json should hold a list of strings; it was not read"),
        (json.dumps(["x" * 900]), "x" * 500 + "…"),
        (json.dumps(["a"] * 30), "warnings.json has 10 more"),
    ],
)
def test_warnings_that_a_program_wrote_are_read_under_limits(content: str, expected: str, tmp_path: Path) -> None:
    from assay.record.results_file import read_warnings

    (tmp_path / "warnings.json").write_text(content)
    assert read_warnings(tmp_path)[-1].startswith(expected)
