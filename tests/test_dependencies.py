from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from functools import cache

import declared
import pytest
from locked import locked
from third_party import canonical, distributions, parsed, provider


@cache
def ours() -> frozenset[str]:
    """What stands in this repository: packages, and modules that tests and tools find beside themselves."""
    beside = [file for file in declared.files() if not file.startswith("src/")]
    modules = {file.rpartition("/")[2].removesuffix(".py") for file in beside}
    packages = {file.split("/")[-2] for file in beside if file.endswith("/__init__.py")}
    return frozenset({"_assay_stand_ins", "assay", "bench", "peers", "tests", "tools", *modules, *packages})


@cache
def needs(file: str) -> frozenset[str]:
    return frozenset(distributions(parsed(declared.ROOT / file), ours()))


def allowed(file: str) -> set[str]:
    mine = declared.extras_of(file)
    # Tests and tools run in the environment that has everything.
    mine |= set(declared.extras()) if "dev" in mine else set()
    return declared.core().union(*(declared.whole(extra) for extra in mine))


def test_no_file_imports_what_its_extra_does_not_declare() -> None:
    wrong = {file: sorted(needs(file) - allowed(file)) for file in declared.files() if not needs(file) <= allowed(file)}
    assert wrong == {}, "name it in pyproject.toml: in its dependencies, or in the extra of [tool.assay.extras]"


def test_the_core_declares_nothing_that_it_does_not_import() -> None:
    mine = [file for file in declared.files() if not declared.extras_of(file)]
    assert declared.core() - set().union(*map(needs, mine)) == set()


@pytest.mark.parametrize("extra", sorted(set(declared.extras()) - declared.SUMS))
def test_an_extra_declares_nothing_that_its_code_does_not_import(extra: str) -> None:
    mine = [file for file in declared.files() if extra in declared.extras_of(file)]
    idle = declared.own(extra) - set(declared.not_imported()) - set().union(*map(needs, mine))
    assert idle == set(), f"the code of {extra} in [tool.assay.extras] imports none of these"


def test_the_table_of_extras_names_those_there_are_and_files_there_are() -> None:
    assert set(declared.patterns()) == set(declared.extras()) - declared.SUMS
    idle = [shape for shapes in declared.patterns().values() for shape in shapes if not _matches(shape)]
    assert idle == []
    assert [file for file in declared.elsewhere() if not (declared.ROOT / file).is_file()] == []


def _matches(shape: str) -> bool:
    return any(fnmatch(file, shape) for file in declared.files())


def test_what_is_needed_without_an_import_is_declared() -> None:
    everything = set().union(*map(declared.own, declared.extras()))
    assert set(declared.not_imported()) - everything == set()


def test_all_is_every_extra_for_users_and_the_locks_hold_everything_but_torch() -> None:
    """torchtune is frozen, and must hold back nothing that `all` asks for."""
    each = set(declared.extras()) - declared.SUMS
    models = {"llm", "llm-server", "rag", "torchtune", "vision"}
    assert declared.included("all") == each - {"dev", "torchtune"} | {"all"}
    assert declared.included("lock") == each - {"torch"} - models | {"lock"}
    locking = (declared.ROOT / "requirements" / "compile.sh").read_text()
    assert all(f"--extra {name} " in locking for name in models)


def test_the_readme_lists_every_extra_for_users() -> None:
    rows = re.findall(r"^\| (`[^|]*) \|", (declared.ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"`([^`]+)`", " ".join(rows))) == declared.included("all") - {"all"}


def test_compilers_have_a_ceiling() -> None:
    for line in declared.extras()["weights"]:
        if canonical(line) in {"numba", "llvmlite"}:
            assert ",<" in line


def missing_extras() -> list[tuple[str, str, frozenset[str]]]:
    """Where, which extra, and what the `try` around it wanted to import."""
    found = []
    for file in declared.files():
        tree = parsed(declared.ROOT / file)
        tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try)]
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "MissingExtra" and len(call.args) == 2:
                around = [t for t in tries if any(call in ast.walk(handler) for handler in t.handlers)]
                wanted = distributions(ast.Module(around[-1].body, []), ours()) if around else set()
                if isinstance(call.args[1], ast.Constant):
                    found.append((f"{file}:{call.lineno}", str(call.args[1].value), frozenset(wanted)))
    return found


def test_who_says_that_an_extra_is_missing_names_one_that_has_it() -> None:
    said = missing_extras()
    assert len(said) > 20
    unknown = [(where, extra) for where, extra, _ in said if extra not in declared.extras()]
    assert unknown == []
    wrong = [(where, extra, sorted(wanted - declared.whole(extra))) for where, extra, wanted in said]
    assert [line for line in wrong if line[2]] == []


def test_an_other_store_of_weights_is_in_the_extra_that_it_names() -> None:
    from assay.weights.peers.peer import PEERS

    for peer in PEERS.values():
        if peer.library != "coral" and not peer.install:
            assert provider(peer.library) in declared.core() | declared.whole(peer.extra), peer.name


@pytest.mark.parametrize(
    ("file", "wanted"), [("core.txt", declared.core()), ("lock.txt", declared.core() | declared.whole("lock"))]
)
def test_a_lock_has_what_is_declared_with_hashes_and_without_addresses(file: str, wanted: set[str]) -> None:
    path = declared.ROOT / "requirements" / file
    pins = locked(path)
    assert {pin.name for pin in pins.values() if pin.ours} == wanted, "run: make lock"
    assert [name for name, pin in pins.items() if not pin.hashes] == []
    assert "://" not in path.read_text(encoding="utf-8")


def test_the_core_has_the_versions_that_everything_was_tested_with() -> None:
    core, everything = (locked(declared.ROOT / "requirements" / file) for file in ("core.txt", "lock.txt"))
    differs = [pin for pin, here in core.items() if pin not in everything or here.hashes != everything[pin].hashes]
    assert differs == []
