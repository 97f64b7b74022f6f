from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assay.names import Registry, UnknownComponent, quote, unknown

SOURCES = Path(__file__).parent.parent / "src" / "assay"


class Shape:
    pass


class Circle(Shape):
    pass


not_a_class = 7


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (unknown("store", "fst", ["small", "fast"]), "unknown store 'fst'; did you mean 'fast'? (known: small, fast)"),
        (unknown("store", "zzz", ["small", "fast"]), "unknown store 'zzz' (known: small, fast)"),
        (unknown("sink", "csv", []), "unknown sink 'csv' (known: none)"),
        (
            unknown("key", "pth", ["path"], of="sink 'x'"),
            "unknown key 'pth' of sink 'x'; did you mean 'path'? (known: path)",
        ),
        (unknown("key", "x", None), "unknown key 'x'"),
        (unknown("stage", 4, [14, 40]), "unknown stage 4 (known: 14, 40)"),
    ],
)
def test_one_phrase_for_every_unknown_name(said: str, message: str) -> None:
    assert said == message


def test_of_very_many_known_names_the_first_are_listed_and_the_rest_counted() -> None:
    names = [f"name-{at:03d}" for at in range(300)]
    said = unknown("entry", "nam-299", names)
    assert "did you mean 'name-299'?" in said
    assert said.endswith("(known: " + ", ".join(names[:12]) + " and 288 more)")
    assert unknown("entry", "zzz", names[:12]).endswith("name-011)")


def test_names_are_in_single_quotes_and_what_cannot_be_printed_is_escaped() -> None:
    assert quote("it's") == "'it's'"
    assert quote("a\x1b[31m\n") == r"'a\x1b[31m\n'"
    assert unknown("entry", "b", ["a\x1b[2J"]) == r"unknown entry 'b' (known: a\x1b[2J)"


def test_nothing_else_in_the_sources_looks_for_near_names() -> None:
    using = {path.name for path in SOURCES.rglob("*.py") if "difflib" in path.read_text(encoding="utf-8")}
    assert using == {"names.py"}


def test_names_alone_import_neither_difflib_nor_importlib_metadata() -> None:
    code = "import sys; before = set(sys.modules); import assay.names; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"difflib", "importlib.metadata", "inspect"} & set(done.stdout.split())


def shapes() -> Registry[Shape]:
    return Registry("shape", Shape, {"circle": f"{__name__}:Circle", "number": f"{__name__}:not_a_class"})


@pytest.mark.parametrize("name", ["circle", f"{__name__}:Circle", f"{__name__}.Circle"])
def test_a_class_is_found_by_its_name_and_by_its_path(name: str) -> None:
    assert shapes().find(name) is Circle


def test_a_class_is_called_as_its_path_says() -> None:
    for written in ("circle", f"{__name__}:Circle", f"{__name__}.Circle"):
        assert shapes().class_name(written) == "Circle"
    assert shapes().class_name("stages.round.Other") == "Other"


def test_a_registry_is_added_to_and_lists_its_names() -> None:
    registry = shapes()
    registry.register("round", f"{__name__}.Circle")
    registry["again"] = f"{__name__}.Circle"
    assert list(registry) == ["circle", "number", "round", "again"]
    assert "round" in registry
    assert "square" not in registry
    assert registry.find("again") is Circle


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("circel", "unknown shape 'circel'; did you mean 'circle'? (known: circle, number); or give a dotted path"),
        ("no.such.Thing", "unknown shape 'no.such.Thing' (known: circle, number); nothing is at that path"),
        ("..Thing", "unknown shape '..Thing' (known: circle, number)"),
        ("number", "'number' is no shape: it is not a class"),
        ("pathlib.Path", "'pathlib.Path' is no shape: it does not inherit from Shape"),
    ],
)
def test_what_is_no_such_class_is_said(name: str, message: str) -> None:
    with pytest.raises(UnknownComponent) as caught:
        shapes().find(name)
    assert str(caught.value).startswith(message)


def test_a_module_that_needs_what_is_not_installed_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needy_shape.py").write_text("import nowhere_installed.deep\n")
    (tmp_path / "broken_shape.py").write_text("from pathlib import NoSuchThing\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UnknownComponent, match="its module needs 'nowhere_installed', which is not installed"):
        shapes().find("needy_shape.Circle")
    with pytest.raises(UnknownComponent, match="its module cannot be imported: cannot import name 'NoSuchThing'"):
        shapes().find("broken_shape.Circle")
