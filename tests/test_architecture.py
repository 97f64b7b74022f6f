from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tools import package_imports  # noqa: E402

PACKAGE = ROOT / "src/assay"
MOST_MODULES = 520
TOO_DEEP = {"stages/llm_huggingface/answers"}
"""Users name these modules in YAML."""


def test_no_import_is_outside_the_table() -> None:
    page = package_imports.PAGE.read_text(encoding="utf-8")
    assert package_imports.violations(package_imports.allowed(page), package_imports.imported()) == []


def test_a_forbidden_import_is_found() -> None:
    assert package_imports.violations({"stats": set(), "api": {"stats"}}, {"stats": {"api"}, "api": {"stats"}}) == [
        "stats imports api"
    ]


def test_every_package_is_in_the_table() -> None:
    may = package_imports.allowed(package_imports.PAGE.read_text(encoding="utf-8"))
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert folders == set(may)


def test_modules_are_few_and_two_folders_deep_at_most() -> None:
    modules = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    assert len([path for path in modules if path.name != "__init__.py"]) <= MOST_MODULES
    deep = {path.parent.as_posix() for path in modules if len(path.parts) > 3}
    assert deep == TOO_DEEP


def test_every_path_of_the_architecture_page_exists() -> None:
    page = package_imports.PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/*.]*)`", page)) - {
        "c/",
        "peers/",
        "package/module.py",
        "package/subpackage/module.py",
    }
    assert [name for name in sorted(named) if not list(PACKAGE.glob(name)) and not list(ROOT.glob(name))] == []
