from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from recording_docker import DIGEST, RecordingDocker

INSPECT = ["image", "inspect", "--format", "{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}"]
NAMES = ["HOST_HOSTNAME", "IMAGE_DIGEST", "HOME", "ASSAY_CONTAINER_IMAGE"]
"""Variables that are handed in whatever the user has set."""


@pytest.fixture
def host(tmp_path: Path) -> RecordingDocker:
    return RecordingDocker(tmp_path)


def session(host: RecordingDocker, text: str, name: str = "nightly.yaml") -> str:
    path = host.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{text}\nentries: [{{name: a, command: 'true'}}]\n")
    return str(path)


def named(*names: str) -> list[str]:
    return [word for name in names for word in ("--env", name)]


def bind(source: Path | str, target: Path | str, mode: str = "ro") -> list[str]:
    return ["--mount", f"type=bind,source={source},target={target}{',readonly' if mode == 'ro' else ''}"]


def line(
    host: RecordingDocker, mounts: list[str], entry: list[str], *, limits: list[str] | None = None,
    names: list[str] = NAMES, network: str = "host", more: list[str] | None = None,
) -> list[str]:  # fmt: skip
    """`docker run` as it must be, word by word."""
    return [
        "run", "--rm", "--init", "--network", network, *host.caller(), *(limits or ["--shm-size", "8g"]),
        "--env", "ASSAY_IN_CONTAINER=1", *named(*names), "--tmpfs", f"{host.home}:exec,mode=1777", *mounts,
        "--workdir", str(host.folder), *(more or []), *entry,
    ]  # fmt: skip


def test_volumes_are_those_of_the_config_and_an_image_finds_them_where_assay_is_not_on_the_host(
    host: RecordingDocker, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    config = session(host, f"""
paths:
  - {{name: data, host_path: {tmp_path}/data, container_path: /data}}
  - {{name: results_path, host_path: {tmp_path}/results}}
datasets: [{{name: d, formats: [{{type: t, path: "{{data}}/d"}}]}}]""")  # fmt: skip
    answer = host.script("run.sh", "--config", "nightly.yaml", "--session-name", "n")
    assert answer.code == 0, answer.err
    around = bind(host.folder, host.folder)
    asked = [
        "run", "--rm", "--network", "none", *host.caller(), *named(*NAMES), *around, "--workdir", str(host.folder),
        "--entrypoint", "assay", "assay:latest", "plan", "--volumes", "--config", config,
    ]  # fmt: skip
    mounts = bind(tmp_path / "data", "/data") + bind(tmp_path / "results", f"/MOUNT{tmp_path}/results", "rw") + around
    ran = line(host, mounts, ["assay:latest", "--config", config, "--session-name", "n"])
    assert host.lines() == [[*INSPECT, "assay:latest"], asked, ran]
    assert (tmp_path / "results").is_dir(), "Docker would make it, and root would own it"
    assert host.variables()["IMAGE_DIGEST"] == DIGEST

    host.install_assay()
    host.calls.unlink()
    assert host.script("run.sh", "--config", "nightly.yaml", "--session-name", "n").code == 0
    assert host.lines() == [[*INSPECT, "assay:latest"], ran]


def test_spaces_commas_quotes_and_shell_code_in_paths_are_letters(host: RecordingDocker, tmp_path: Path) -> None:
    wild = tmp_path / 'my $(touch pwned) `touch pwned`; touch pwned, "x"'
    wild.mkdir()
    spaced = tmp_path / "two words: here"
    config = session(host, f"""
paths:
  - {{name: data, host_path: {str(wild)!r}, container_path: "/in $(touch pwned)/'$HOME'"}}
  - {{name: results_path, host_path: {str(spaced)!r}, container_path: /two words}}""",
        "my configs/it's $(touch pwned).yaml",
    )  # fmt: skip
    host.install_assay()
    answer = host.script("run.sh", f"--config={config}", "--reason", "$(touch pwned)", "--image", "my/image:1")
    assert answer.code == 0, answer.err
    doubled = str(wild).replace('"', '""')
    mounts = ["--mount", f"type=bind,\"source={doubled}\",target=/in $(touch pwned)/'$HOME',readonly"]
    mounts += bind(spaced, "/two words", "rw") + bind(host.folder / "my configs", host.folder / "my configs")
    entry = ["my/image:1", "--config", config, "--reason", "$(touch pwned)"]
    assert host.lines()[-1] == line(host, mounts, entry)
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ({"GPUS": "none"}, []),
        ({"GPUS": "all"}, ["--gpus", "all"]),
        ({"GPUS": "device=1"}, ["--gpus", '"device=1"']),
        ({"GPUS": '"device=1"'}, ["--gpus", '"device=1"']),
        ({"GPUS": "device=0,1", "MEMORY": "64g"}, ["--gpus", '"device=0,1"', "--memory", "64g"]),
        ({}, []),
    ],
)
def test_gpus_and_memory(host: RecordingDocker, asked: dict[str, str], given: list[str]) -> None:
    answer = host.script("run.sh", "--", "true", **asked)
    assert answer.code == 0, answer.err
    results = bind(host.folder / "results", host.folder / "results", "rw")
    assert host.lines()[-1] == line(host, results, ["assay:latest", "--", "true"], limits=[*given, "--shm-size", "8g"])
    options = [f"--{name.lower()}={value}" for name, value in asked.items()]
    assert host.script("run.sh", *options, "--", "true").code == 0
    assert host.lines()[-1] == host.lines()[1]


def test_without_a_word_all_gpus_of_a_host_are_given_and_half_of_its_memory_can_be_shared(
    host: RecordingDocker,
) -> None:
    host.install("nvidia-smi", "#!/bin/sh\necho 'GPU 0: H100'\n")
    assert host.script("run.sh", "--", "true", SHM_SIZE="").code == 0
    total = next(text.split()[1] for text in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in text)
    words = host.lines()[-1]
    assert words[words.index("--gpus") + 1] == "all"
    assert words[words.index("--shm-size") + 1] == f"{int(total) // 2}k"


def test_two_configs_in_two_repositories(host: RecordingDocker, tmp_path: Path) -> None:
    first = session(host, f"results_path: {tmp_path}/r", "one/base.yaml")
    (host.folder / "one" / ".git").mkdir()
    second = tmp_path / "two" / "sub" / "machine.yaml"
    second.parent.mkdir(parents=True)
    (tmp_path / "two" / ".git").mkdir()
    second.write_text("default_timeout_s: 5\n")
    answer = host.script("run.sh", "--config", "one/base.yaml", "--config", "../two/sub/machine.yaml")
    assert answer.code == 0, answer.err
    mounts = bind(tmp_path / "r", f"/MOUNT{tmp_path}/r", "rw")
    mounts += bind(host.folder / "one", host.folder / "one") + bind(tmp_path / "two", tmp_path / "two")
    assert host.lines()[-1] == line(host, mounts, ["assay:latest", "--config", first, "--config", str(second)])


def test_a_shell_has_the_same_volumes(host: RecordingDocker, tmp_path: Path) -> None:
    session(host, f"results_path: {tmp_path}/r")
    host.install_assay()
    assert host.script("run.sh", "--shell", "--config", "nightly.yaml").code == 0
    mounts = bind(tmp_path / "r", f"/MOUNT{tmp_path}/r", "rw") + bind(host.folder, host.folder)
    entry = ["--interactive", "--entrypoint", "bash", "assay:latest"]
    assert host.lines()[-1] == line(host, mounts, entry)
    assert host.script("run.sh", "--shell", "--config", "nightly.yaml", "--", "-c", "assay doctor").code == 0
    assert host.lines()[-1] == line(host, mounts, [*entry, "-c", "assay doctor"])
    answer = host.script("run.sh", "--shell", "--entries", "a")
    assert (answer.code, answer.err) == (
        2, "run.sh: a shell runs no session: leave out --entries, or put words for bash after --\n"
    )  # fmt: skip


def test_variables_are_handed_in_by_name_and_no_value_is_in_a_command_line(
    host: RecordingDocker, tmp_path: Path
) -> None:
    account = tmp_path / "account.json"
    account.write_text("{}")
    session(host, f"results_path: {tmp_path}/${{STAGE}}\nx-note: ${{PATH}} ${{UNSET:-x}} ${{TOKEN:+y}}")
    variables = {
        "SLACK_BOT_TOKEN": "xoxb-secret", "MLFLOW_TRACKING_URI": "http://secret", "TOKEN": "secret", "STAGE": "night",
        "GDRIVE_SERVICE_ACCOUNT_FILE": str(account), "MORE": "secret", "USER": "me",
    }  # fmt: skip
    answer = host.script("run.sh", "--config", "nightly.yaml", "--env", "MORE", **variables)
    assert answer.code == 0, answer.err
    names = [
        "MLFLOW_TRACKING_URI", "SLACK_BOT_TOKEN", "GDRIVE_SERVICE_ACCOUNT_FILE", "HOST_HOSTNAME", "IMAGE_DIGEST",
        "HOME", "USER", "MORE", "ASSAY_CONTAINER_IMAGE", "STAGE", "TOKEN",
    ]  # fmt: skip
    mounts = bind(tmp_path / "night", f"/MOUNT{tmp_path}/night", "rw") + bind(host.folder, host.folder)
    mounts += bind(account, account)
    entry = ["assay:latest", "--config", str(host.folder / "nightly.yaml")]
    assert host.lines()[-1] == line(host, mounts, entry, names=names)
    assert "secret" not in str(host.lines())
    answer = host.script("run.sh", "--env", "MORE=secret", "--", "true")
    assert (answer.code, "takes a variable's name" in answer.err) == (2, True)


def test_a_home_is_never_handed_in_because_a_config_lies_there(host: RecordingDocker, tmp_path: Path) -> None:
    config = host.home / "nightly.yaml"
    config.write_text(f"results_path: {tmp_path}/r\nentries: [{{name: a, command: 'true'}}]\n")
    (host.home / ".git").mkdir()
    host.install_assay()
    assert host.script("run.sh", "--config", str(config)).code == 0
    mounts = bind(tmp_path / "r", f"/MOUNT{tmp_path}/r", "rw") + bind(config, config)
    assert host.lines()[-1] == line(host, mounts, ["assay:latest", "--config", str(config)])


def test_a_link_to_a_config_elsewhere_is_followed(host: RecordingDocker, tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_text(f"results_path: {tmp_path}/r\nentries: [{{name: a, command: 'true'}}]\n")
    (host.folder / "link.yaml").symlink_to(real)
    assert host.script("run.sh", "--config", "link.yaml").code == 0
    mounts = bind(tmp_path / "r", f"/MOUNT{tmp_path}/r", "rw") + bind(host.folder, host.folder) + bind(real, real)
    assert host.lines()[-1] == line(host, mounts, ["assay:latest", "--config", str(host.folder / "link.yaml")])


def test_results_go_where_they_are_asked_for(host: RecordingDocker, tmp_path: Path) -> None:
    config = session(host, f"results_path: {tmp_path}/r")
    host.install_assay()
    inside = bind(tmp_path / "r", f"/MOUNT{tmp_path}/r", "rw") + bind(host.folder, host.folder)
    for asked, more in [(f"/MOUNT{tmp_path}/r", []), (f"{tmp_path}/x", bind(tmp_path / "x", tmp_path / "x", "rw"))]:
        assert host.script("run.sh", "--config", "nightly.yaml", "--results-dir", asked).code == 0
        entry = ["assay:latest", "--config", config, "--results-dir", asked]
        assert host.lines()[-1] == line(host, inside + more, entry)
    assert not Path(f"/MOUNT{tmp_path}").exists()


def test_data_that_is_not_here_is_said_and_left_to_the_entries_that_need_it(
    host: RecordingDocker, tmp_path: Path
) -> None:
    config = session(host, f"results_path: {tmp_path}/r\ndatasets: [{{name: d, formats: [{{type: t, path: /no/d}}]}}]")
    host.install_assay()
    answer = host.script("run.sh", "--config", "nightly.yaml")
    assert (answer.code, answer.err) == (0, "run.sh: /no/d is not on this host: entries that need /no/d will fail\n")
    mounts = bind(tmp_path / "r", f"/MOUNT{tmp_path}/r", "rw") + bind(host.folder, host.folder)
    assert host.lines()[-1] == line(host, mounts, ["assay:latest", "--config", config])


def test_a_dry_run_prints_what_a_shell_would_read_as_the_same_words(host: RecordingDocker) -> None:
    answer = host.script(
        "run.sh", "--dry-run", "--network", "bridge", "--docker-arg=--cap-add=SYS_PTRACE", "--", "echo", "a b", "$(x)"
    )
    assert host.lines() == [[*INSPECT, "assay:latest"]]
    results = bind(host.folder / "results", host.folder / "results", "rw")
    expected = line(
        host, results, ["assay:latest", "--", "echo", "a b", "$(x)"], network="bridge", more=["--cap-add=SYS_PTRACE"]
    )
    assert shlex.split(answer.out) == ["docker", *expected]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--config", "missing.yaml"], "run.sh: there is no file missing.yaml\n"),
        (["--config"], "run.sh: --config needs a value; tools/run.sh --help\n"),
        (["--gpus", "two", "--", "true"], "run.sh: --gpus takes none, all or device=N, not two\n"),
    ],
)
def test_what_cannot_be_run_is_said_in_a_line(host: RecordingDocker, words: list[str], said: str) -> None:
    answer = host.script("run.sh", *words)
    assert (answer.code, answer.err) == (2, said)


def test_an_image_that_is_not_there_is_said_with_what_to_do(tmp_path: Path) -> None:
    host = RecordingDocker(tmp_path, missing=True)
    answer = host.script("run.sh", "--image", "mine:1", "--", "true")
    assert answer.code == 2
    assert (
        "the image mine:1 is not here: build it with tools/build_docker.sh, or pull it with docker pull" in answer.err
    )
    answer = host.script("run.sh", "--", "true", DOCKER="no-engine")
    assert (answer.code, answer.err) == (
        2, "run.sh: there is no no-engine here; install Docker, or name another engine: DOCKER=podman\n"
    )  # fmt: skip


def test_a_config_that_cannot_be_read_ends_it_before_anything_runs(host: RecordingDocker) -> None:
    session(host, "pahts: []")
    answer = host.script("run.sh", "--config", "nightly.yaml")
    assert (answer.code, len(host.lines())) == (2, 2)
    assert "nightly.yaml:1:" in answer.err
