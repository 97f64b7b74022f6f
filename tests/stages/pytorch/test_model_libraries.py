from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from assay.errors import MissingExtra
from assay.stages.pytorch.device import library

SOURCE = Path(__file__).parents[3] / "src"

CORE = ["pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection", "numpy"]
"""What the stages' configuration needs."""
ABSENT = "not_here.deep"
ORDERS = [
    ["transformers", "torchvision", "timm", "peft"],
    ["peft", "timm", "transformers", "torchvision"],
    ["timm", "transformers", "peft", "torchvision"],
]
FORKS = """
import os, sys
sys.path.insert(0, sys.argv[1])
import torch
from assay.stages.pytorch.components import component
from assay.stages.pytorch.device import library

def libraries(order):
    for name in order:
        assert library(name, "llm").__name__ == name
    import torchvision
    assert torchvision.models.get_model("squeezenet1_1")(torch.zeros(1, 3, 64, 64)).shape == (1, 1000)

def own_module():
    assert component("own_net.number", "vision") == 7

for work, *given in [(own_module,), *((libraries, order) for order in %r)]:
    if os.fork() == 0:
        work(*given)
        os._exit(0)
    assert os.wait()[1] == 0, given
print("all")
"""


@pytest.mark.slow
def test_what_looks_for_torchvision_is_imported_in_any_order_and_in_silence(tmp_path: Path) -> None:
    """Libraries, and a user's module that none of ours was imported before.

    One process, which has imported torch alone, forks for each: torch is what takes longest to import.
    """
    (tmp_path / "own_net.py").write_text("import timm, torchvision\nnumber = 7\n")
    code = FORKS % ORDERS
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("all\n", "")


@pytest.fixture
def without_torch(tmp_path: Path) -> str:
    """Code that makes an interpreter see Assay and what its core needs, and nothing else that is installed."""
    folder = tmp_path / "core"
    folder.mkdir()
    for name in CORE:
        found = find_spec(name)
        assert found is not None
        assert found.origin is not None
        module = Path(found.origin)
        place = module.parent if module.name == "__init__.py" else module
        (folder / place.name).symlink_to(place)
        if (compiled := place.with_name(f"{name}.libs")).is_dir():
            (folder / compiled.name).symlink_to(compiled)
    return f"import sys; sys.path[:0] = [{str(SOURCE)!r}, {str(folder)!r}]\n"


@pytest.mark.parametrize(
    "stage",
    [
        "torchvision_classification import TorchVisionDataLoader as S",
        "torchvision_classification import TorchVisionClassification as S",
    ],
)
def test_without_the_extra_a_stage_is_built_and_its_set_up_says_what_to_install(stage: str, without_torch: str) -> None:
    code = (
        f"{without_torch}"
        f"from assay.stages.{stage}\n"
        "from assay.errors import MissingExtra\n"
        "from assay.pipeline.stage import Worker\n"
        "stage = S()\n"
        "try: stage.setup(Worker())\n"
        "except MissingExtra as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    said = "torchvision is not installed. Install it with: pip install 'assay-bench[vision]'\n"
    assert (done.stdout, done.stderr) == (said, "")


def test_a_library_that_is_there_and_lacks_another_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = "half_installed"
    (tmp_path / f"{half}.py").write_text("import nowhere_installed\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="nowhere_installed"):
        library(half, "llm")
    with pytest.raises(MissingExtra, match=r"not_here\.deep is not installed. .*assay-bench\[rag\]"):
        library(ABSENT, "rag")


def test_a_stages_module_imports_no_heavy_library() -> None:
    code = (
        "import sys, assay.stages.torchvision_classification, assay.stages.pytorch.components\n"
        "print([name for name in ('torch', 'torchvision', 'timm', 'PIL', 'transformers') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_warnings_of_a_library_are_said_again_after_its_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    name = "loud"
    (tmp_path / f"{name}.py").write_text(
        "import logging, warnings\nlogging.getLogger('loud').warning('no GPU')\nwarnings.warn('no GPU')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    loud = library(name, "llm")
    assert caplog.messages == []
    loud.logging.getLogger("loud").warning("after")
    assert caplog.messages == ["after"]
