"""What a user gets who installs the package: what is in it, what it weighs, and that it works by itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from platform import machine
from zipfile import ZipFile

import pytest
from browser import Watched, chromium
from installed import ROOT, UV, Installed

import assay

pytestmark = pytest.mark.slow

LIBRARY = "assay/native/lib/libassay.so"
COMMIT = "assay/commit.txt"
MOST_PACKAGES = 12
MOST_MB = 150
UNSEEN = """figures => figures.filter(figure => {
    const marks = [...figure.querySelectorAll("svg path, svg polyline")].map(mark => mark.getBoundingClientRect());
    return !marks.some(box => box.width > 0 || box.height > 0);
}).map(figure => figure.outerHTML.slice(0, 200))"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    mine = tmp_path_factory.getbasetemp()
    # Processes of one parallel run share what is above their own folders.
    shared = mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine
    return Installed(shared / "installed")


@pytest.fixture(scope="session")
def measured_twice(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder after `assay init` and two sessions, long enough for a chart of their usage."""
    folder = tmp_path_factory.mktemp("user")
    assert installed.assay("init", folder=folder).code == 0
    config = folder / "assay.yaml"
    config.write_text(config.read_text().replace("--rows 1000000", "--rows 3000000"))
    for _ in range(2):
        answer = installed.assay("run", "--config", "assay.yaml", folder=folder)
        assert answer.code == 0, answer.err
        assert "2 passed" in answer.out
    return folder


def sources() -> set[str]:
    """Everything of the package that is in the repository or would be with the next commit."""
    return {name.removeprefix("src/") for name in tracked("src/assay")}


def tracked(folder: str) -> set[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return {name for name in listed if name and (ROOT / name).is_file()}


def test_the_wheel_has_every_source_and_the_library_made_from_them(installed: Installed) -> None:
    with ZipFile(installed.wheel) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == sources() | {LIBRARY, COMMIT} | {f"assay/{name}" for name in tracked("examples")}
    assert "assay/native/c/alm/kernel.c" in inside
    assert [name for name in inside if name.endswith((".pyc", ".nbi", ".nbc"))] == []


def test_an_installed_package_knows_its_version_and_commit(installed: Installed, tmp_path: Path) -> None:
    """The version stands once in the repository; nothing else says it."""
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    assert installed.assay("--version", folder=tmp_path).out == f"assay {assay.__version__} (commit {commit})\n"
    assert installed.wheel.name.split("-")[1] == assay.__version__
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_examples_come_with_the_package(installed: Installed, tmp_path: Path) -> None:
    answer = installed.assay("init", "--examples", folder=tmp_path)
    assert answer.code == 0, answer.err
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")} == tracked("examples")
    assert installed.assay("plan", "--config", "examples/quickstart.yaml", folder=tmp_path).code == 0


def test_nothing_of_others_is_bundled(installed: Installed) -> None:
    """LICENSE covers all that the wheel holds; docs/licences.md says so."""
    with ZipFile(installed.wheel) as wheel:
        texts = {name: wheel.read(name) for name in wheel.namelist() if ".dist-info/" not in name and name != LIBRARY}
    foreign = re.compile(
        rb"copyright|licensed under|spdx-license|all rights reserved|permission is hereby", re.IGNORECASE
    )
    assert [name for name, text in texts.items() if foreign.search(text)] == []
    assert [name for name, text in texts.items() if b"\0" in text] == []


def test_one_wheel_serves_every_python_of_its_platform(installed: Installed) -> None:
    """And every glibc that has what the library asks for."""
    *_, python, abi, platform = installed.wheel.stem.split("-")
    assert (python, abi) == ("py3", "none")
    asked = re.fullmatch(rf"manylinux_2_(\d+)_{machine()}", platform)
    assert asked is not None, platform
    assert int(asked[1]) <= int(os.confstr("CS_GNU_LIBC_VERSION").split(".")[1])  # type: ignore[union-attr]


def test_the_sdist_has_the_package_and_what_describes_and_builds_it(installed: Installed) -> None:
    with tarfile.open(installed.sdist) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    described = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "hatch_build.py", "pyproject.toml"}
    package = {f"src/{name}" for name in sources() | {COMMIT}}
    assert inside - {".gitignore"} == package | tracked("examples") | described


def test_an_installed_package_needs_no_compiler(installed: Installed, tmp_path: Path) -> None:
    """Nothing of a compiler is on the path, and the very first run is done by the compiled library."""
    said = installed.assay("doctor", folder=tmp_path, PATH=str(installed.python.parent)).out
    assert re.search(r"✓ compiled library +(scalar|avx2|avx512) [0-9a-f]{12}\n", said)
    manifest = ROOT / "tests" / "fixtures" / "audio" / "alm" / "sample_input.jsonl"
    words = ["--input-manifest", str(manifest), "--benchmark-results-path", str(tmp_path / "results")]
    command = [str(installed.python), "-m", "assay.benchmarks.alm_pipeline_benchmark", *words]
    subprocess.run(command, cwd=tmp_path, env={"PATH": str(installed.python.parent)}, check=True, capture_output=True)
    metrics = json.loads((tmp_path / "results" / "metrics.json").read_text())
    assert (metrics["num_strictly_parsed_entries"], metrics["total_builder_windows"]) == (0, 143)


def test_without_a_compiler_a_wheel_is_refused_unless_one_without_the_library_is_asked_for(tmp_path: Path) -> None:
    refused = _built_without_compiler(tmp_path / "refused")
    assert refused.returncode != 0
    assert (
        "a wheel needs a C compiler (gcc or cc); ASSAY_PURE=1 makes one without the compiled library" in refused.stderr
    )
    made = _built_without_compiler(tmp_path / "pure", ASSAY_PURE="1")
    assert made.returncode == 0, made.stderr
    (wheel,) = (tmp_path / "pure").glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with ZipFile(wheel) as pure:
        assert LIBRARY not in pure.namelist()


def test_an_editable_install_succeeds_without_a_compiler(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    python = tmp_path / "venv" / "bin" / "python"
    quiet = _environment_without_compiler()
    for words in (["venv", "--python", sys.executable, str(tmp_path / "venv")],
                  ["pip", "install", "--python", str(python), "--no-deps", "--editable", str(tmp_path)]):  # fmt: skip
        done = subprocess.run([str(UV), *words], env=quiet, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    program = "from assay.native.library import absence; print(absence())"
    said = subprocess.run([str(python), "-c", program], env=quiet, capture_output=True, text=True, check=True).stdout
    assert said.startswith("the compiled library is missing (")


def _environment_without_compiler() -> dict[str, str]:
    return {**os.environ, "PATH": str(Path(sys.executable).parent), "CC": "no-such-compiler"}


def _built_without_compiler(to: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [str(UV), "build", "--wheel", "--out-dir", str(to), str(ROOT)]
    environment = {**_environment_without_compiler(), **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=240)


def test_the_core_is_small(installed: Installed) -> None:
    assert len(installed.packages()) <= MOST_PACKAGES, installed.packages()
    size = sum(path.lstat().st_size for path in installed.site_packages.rglob("*") if path.is_file())
    assert size / 2**20 <= MOST_MB


@pytest.mark.parametrize("words", ["--help", "show", "report", "doctor", "history", "schema"])
def test_the_core_needs_no_extra(installed: Installed, measured_twice: Path, words: str) -> None:
    answer = installed.assay(*words.split(), folder=measured_twice)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out


def test_two_sessions_of_an_installed_package_are_compared(installed: Installed, measured_twice: Path) -> None:
    answer = installed.assay("compare", "latest~1", "latest", folder=measured_twice)
    assert answer.code in {0, 3}, "3 where the machine was busier in one of them"
    assert answer.err == "" or answer.err.startswith("warning: not a pass: inconclusive: ")
    assert "sort_small" in answer.out


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("serve",), "serve"),
        (("history", "export", "all.parquet"), "arrow"),
        (("weights", "init", "models"), "weights"),
        (("data", "documents", "made", "--format", "parquet"), "pipeline"),
    ],
)
def test_a_command_that_needs_an_extra_says_which(
    installed: Installed, measured_twice: Path, words: tuple[str, ...], extra: str
) -> None:
    answer = installed.assay(*words, folder=measured_twice)
    assert answer.code == 2
    assert answer.err.endswith(f"Install it with: pip install 'assay-bench[{extra}]'\n")


def test_the_doctor_knows_every_extra(installed: Installed, tmp_path: Path) -> None:
    import declared

    said = installed.assay("doctor", folder=tmp_path).out
    for extra in set(declared.extras()) - declared.SUMS - {"dev"}:
        assert f"pip install 'assay-bench[{extra}]'" in said
    listed = [found.split(", ") for found in re.findall(r"\(missing: (.*)\)$", said, re.MULTILINE)]
    assert listed
    assert [names for names in listed if len(names) != len(set(names))] == []


def test_the_report_of_an_installed_package_shows_its_charts(measured_twice: Path) -> None:
    report = sorted(measured_twice.glob("results/*/report.html"))[-1]
    with chromium() as browser:
        watched = Watched(browser, "file:")
        watched.page.goto(report.as_uri())
        watched.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
        figures = watched.page.locator("figure.plot")
        assert figures.count() > 0
        assert figures.evaluate_all(UNSEEN) == []
        assert (watched.errors, watched.outside) == ([], [])
