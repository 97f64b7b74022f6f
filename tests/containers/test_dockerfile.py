from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath

import pytest
from recording_docker import REPOSITORY

sys.path.insert(0, str(REPOSITORY))
from tools.dockerfile import Dockerfile, Ignored, expand, pairs, steps, words

IMAGE = Dockerfile.read(REPOSITORY / "docker/Dockerfile", {})


def last(target: str, word: str) -> str:
    """What an instruction says last, in a target and all that it is built on."""
    stage = IMAGE.stage(target)
    while stage is not None:
        found = [step.rest for step in stage.steps if step.word == word]
        if found:
            return found[-1]
        stage = IMAGE.stage(stage.base)
    raise AssertionError(f"{target} has no {word}")


@pytest.mark.parametrize("target", ["cpu", "cuda", "onto"])
def test_every_target_runs_a_session_as_somebody_who_is_not_root(target: str) -> None:
    assert last(target, "USER") == "10001"
    assert words(last(target, "ENTRYPOINT")) == ["assay", "run"]
    assert IMAGE.stages[-1].name == "cpu", "the target without a word"


def test_what_is_copied_is_there_and_not_ignored_and_caches_are() -> None:
    ignored = Ignored.read(REPOSITORY / ".dockerignore")
    copies = [step.rest.split() for stage in IMAGE.stages for step in stage.steps if step.word == "COPY"]
    sources = {source for words in copies if not words[0].startswith("--from") for source in words[:-1]}
    described = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "hatch_build.py"}
    assert sources == {"requirements", "src"} | described
    for source in sources:
        assert (REPOSITORY / source).exists()
        assert not ignored(PurePosixPath(source))
    assert not ignored(PurePosixPath("src/assay/cli/run.py"))
    for left_out in (
        ".git",
        ".venv/bin/python",
        "src/assay/__pycache__/x.pyc",
        "src/assay/native/lib/libassay.so",
        "results/a",
        "tests/conftest.py",
    ):
        assert ignored(PurePosixPath(left_out))


def test_lines_go_on_comments_do_not_and_what_is_not_known_is_refused(tmp_path: Path) -> None:
    text = 'ARG A=1\nFROM ${A} AS one\n# note\nRUN a \\\n    # inside\n    && b\nENV X="1 2" \\\n Y=$X:z\n'
    assert [(step.word, step.rest, step.line) for step in steps(text)] == [
        ("ARG", "A=1", 1), ("FROM", "${A} AS one", 2), ("RUN", "a \n    && b", 4), ("ENV", 'X="1 2" \n Y=$X:z', 7),
    ]  # fmt: skip
    assert pairs('X="1 2" \n Y=$X:z', {"X": "0"}) == {"X": "1 2", "Y": "0:z"}
    assert expand("${A}-$B", {"A": "1"}) == "1-"
    (tmp_path / "Dockerfile").write_text(text)
    assert Dockerfile.read(tmp_path / "Dockerfile", {"A": "2"}).stages[0].base == "2"
    with pytest.raises(ValueError, match="line 2: VOLUME is not carried out here"):
        steps("FROM a\nVOLUME /x\n")
