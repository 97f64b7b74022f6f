from __future__ import annotations

import re
from pathlib import Path

import pytest
from recording_docker import REPOSITORY, RecordingDocker

TIME = re.compile(r"\d{4}-\d\d-\d\d__\d\d-\d\d-\d\d")


@pytest.fixture
def host(tmp_path: Path) -> RecordingDocker:
    return RecordingDocker(tmp_path)


def built(host: RecordingDocker) -> list[str]:
    """The last call's words, without labels, and TIME for a time."""
    words = [TIME.sub("TIME", word) for word in host.lines()[-1]]
    return [word for at, word in enumerate(words) if "--label" not in (word, words[at - 1])]


def line(target: str, base: str, *more: str, tags: tuple[str, ...] = ("assay:TIME",)) -> list[str]:
    installed = "EXTRAS=gdrive,gpu,slack" if target == "onto" else "REQUIREMENTS=lock.txt"
    return [
        "build", "--file", f"{REPOSITORY}/docker/Dockerfile", "--target", target, "--build-arg", f"BASE={base}",
        "--build-arg", installed, *(word for tag in tags for word in ("--tag", tag)), *more, str(REPOSITORY),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "variables", "expected"),
    [
        ([], {}, line("cpu", "debian:bookworm-slim")),
        (["--tag-as-latest"], {}, line("cpu", "debian:bookworm-slim", tags=("assay:TIME", "assay:latest"))),
        (["--target", "cuda"], {}, line("cuda", "nvidia/cuda:12.8.1-runtime-ubuntu24.04")),
        (["--target=cuda", "--base=own base"], {}, line("cuda", "own base")),
        ([], {"CURATOR_IMAGE": "curator:$(x)"}, line("onto", "curator:$(x)")),
        (["--skip-curator-image-build"], {"CURATOR_IMAGE": "c"}, line("onto", "c", "--pull")),
        (["--skip-curator-image-build-and-pull"], {"CURATOR_IMAGE": "c"}, line("onto", "c")),
        (
            ["--tag-as-latest", "--docker-arg=--no-cache"],
            {"CURATOR_BENCHMARKING_IMAGE": "there:5000/team/bench"},
            line(
                "cpu", "debian:bookworm-slim", "--no-cache",
                tags=("there:5000/team/bench:TIME", "there:5000/team/bench:latest"),
            ),
        ),
        (["--image", "bench:1.0"], {}, line("cpu", "debian:bookworm-slim", tags=("bench:1.0",))),
    ],
)  # fmt: skip
def test_the_command_line(
    host: RecordingDocker, words: list[str], variables: dict[str, str], expected: list[str]
) -> None:
    answer = host.script("build_docker.sh", *words, **variables)
    assert answer.code == 0, answer.err
    assert built(host) == expected
    assert TIME.sub("TIME", answer.out) == f"{expected[expected.index('--tag') + 1]}\n"


def test_an_image_says_when_and_from_what_it_was_built(host: RecordingDocker) -> None:
    assert host.script("build_docker.sh").code == 0
    words = host.lines()[-1]
    labels = [words[at + 1] for at, word in enumerate(words) if word == "--label"]
    assert re.fullmatch(r"org\.opencontainers\.image\.created=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", labels[0])
    if (REPOSITORY / ".git").exists():
        assert re.fullmatch(r"org\.opencontainers\.image\.revision=[0-9a-f]{40}(-dirty)?", labels[1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tag-as-lastest"], "unknown option --tag-as-lastest; tools/build_docker.sh --help"),
        (["--target", "gpu"], "unknown target gpu; known: cpu, cuda, onto"),
        (["--target", "onto"], "--target onto needs a base with a Python: --base IMAGE, or CURATOR_IMAGE"),
        (["--requirements", "all.txt"], "there is no requirements/all.txt; known: lock.txt, core.txt"),
        (["--base"], "--base needs a value; tools/build_docker.sh --help"),
    ],
)
def test_what_cannot_be_built_is_said_in_a_line(host: RecordingDocker, words: list[str], said: str) -> None:
    answer = host.script("build_docker.sh", *words)
    assert (answer.code, answer.err) == (2, f"build_docker.sh: {said}\n")


def test_a_base_that_must_be_here_is_not_pulled(tmp_path: Path) -> None:
    host = RecordingDocker(tmp_path, missing=True)
    answer = host.script("build_docker.sh", "--skip-curator-image-build-and-pull", CURATOR_IMAGE="c:1")
    assert (answer.code, "the base c:1 is not here: build it, or pull it" in answer.err) == (2, True)
    assert [words[0] for words in host.lines()] == ["image"]
