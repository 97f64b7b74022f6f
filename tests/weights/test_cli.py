"""The commands, as a person types them."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import safetensors.numpy

from assay.cli.main import main


@pytest.fixture
def files(tmp_path, rng):
    base = rng.standard_normal((50, 100)).astype(np.float32)
    for number in range(3):
        model = {"w": base + np.float32(1e-3 * number), "b": base[0]}
        safetensors.numpy.save_file(model, tmp_path / f"m{number}.safetensors")
    return tmp_path


def weights(capsys, *words):
    code = main(["weights", *map(str, words)])
    return code, capsys.readouterr()


def ok(capsys, *words):
    code, printed = weights(capsys, *words)
    assert code == 0, printed.err
    return printed.out


def test_a_day_with_the_store(files, capsys):
    repo = files / "repo"
    ok(capsys, "init", repo, "--preset", "small", "--set", "memory_limit_mb=64")
    ok(capsys, "import", repo, files / "m0.safetensors", "-m", "first")
    ok(capsys, "branch", repo, "tuned", "--switch")
    ok(capsys, "commit", repo, files / "m1.safetensors", "-m", "second")
    ok(capsys, "tag", repo, "v1")
    assert "* tuned" in ok(capsys, "branch", repo)
    assert "v1" in ok(capsys, "tag", repo)
    log = ok(capsys, "log", repo)
    assert [line.split()[-1] for line in log.splitlines()] == ["second", "first"]
    assert "50x100" in ok(capsys, "log", repo, "v1", "--name", "w")
    assert "~ w\n0 added, 0 removed, 1 changed, 1 unchanged" in ok(capsys, "diff", repo, "main", "tuned")
    ok(capsys, "branch", repo, "main", "--switch")
    ok(capsys, "merge", repo, "tuned")
    stats = json.loads(ok(capsys, "stats", repo, "--json"))
    assert stats["versions"] == 2
    assert stats["dedup_hits"] == 1
    assert stats["deltas"] == 1
    assert "all good: 3 tensors, 2 commits" in ok(capsys, "verify", repo)
    ok(capsys, "export", repo, "v1", files / "out.safetensors")
    again = safetensors.numpy.load_file(files / "out.safetensors")
    given = safetensors.numpy.load_file(files / "m1.safetensors")
    assert all(again[name].tobytes() == given[name].tobytes() for name in given)
    ok(capsys, "checkout", repo, "main", files / "b.safetensors", "--name", "b")
    assert list(safetensors.numpy.load_file(files / "b.safetensors")) == ["b"]
    assert "sent 2 commits, 3 tensors" in ok(capsys, "push", repo, files / "remote")
    assert "2 commits" in ok(capsys, "clone", files / "remote", files / "copy")
    assert "fetched 0 commits" in ok(capsys, "pull", files / "copy", files / "remote")
    assert "removed 0 commits" in ok(capsys, "gc", repo)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["log", "{}/nowhere"], "is not a weight repository; make one with"),
        (["import", "{}/repo", "{}/none.safetensors"], "does not exist"),
        (["export", "{}/repo", "nope", "{}/x.safetensors"], "'nope' is not a branch, a tag or a commit"),
        (["init", "{}/repo"], "is a repository already"),
        (["init", "{}/other", "--set", "batchsize=3"], "did you mean 'batch_size'?"),
        (
            ["merge", "{}/repo", "main", "--strategy", "magic"],
            "unknown merge strategy 'magic' (known: refuse, ours, theirs)",
        ),
    ],
)
def test_mistakes_are_one_message(files, capsys, words, message):
    ok(capsys, "init", files / "repo")
    ok(capsys, "import", files / "repo", files / "m0.safetensors")
    code, printed = weights(capsys, *(word.format(files) for word in words))
    assert code == 2
    assert message in printed.err
    assert "Traceback" not in printed.err


def test_damage_is_exit_1_and_named(files, capsys):
    repo = files / "repo"
    ok(capsys, "init", repo)
    ok(capsys, "import", repo, files / "m0.safetensors")
    (pack,) = (repo / "packs").iterdir()
    data = bytearray(pack.read_bytes())
    data[100] ^= 1
    pack.write_bytes(data)
    code, printed = weights(capsys, "verify", repo)
    assert code == 1
    assert f"{pack.name} is damaged between bytes" in printed.out


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from assay.cli.main import main\n"
        "try: main(['weights', '--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'numba', 'sklearn'} & set(sys.modules), 'heavy'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
