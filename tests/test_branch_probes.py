from __future__ import annotations

import textwrap

import pytest
from tools.branch_probes import REACHED, BranchProbes, branches, is_measured

WAYS = """\
def taken(values):
    if not values:
        return "none"
    for value in values:
        if value > 1:
            break
    try:
        return 1 / (value - 1)
    except ZeroDivisionError:
        return "error"
"""


def _not_reached(source: str, *given: object) -> list[int]:
    """Lines of the branches that `taken(*given)` does not go."""
    probes = BranchProbes()
    code = probes.probed(source.encode(), "made.py")
    reached = [0] * len(probes.lines)
    names: dict = {REACHED: reached}
    exec(code, names)  # noqa: S102
    names["taken"](*given)
    return [line for line, was in zip(probes.lines, reached, strict=True) if not was]


@pytest.mark.parametrize(
    ("values", "missed"),
    [((), [2, 5, 6, 5, 4, 10]), ((1,), [3, 6]), ((1, 2), [3, 4, 10]), ((0,), [3, 6, 10])],
    ids=str,
)
def test_both_ways_of_an_if_the_body_and_the_end_of_a_loop_and_a_handler_are_branches(
    values: tuple[int, ...], missed: list[int]
) -> None:
    assert _not_reached(WAYS, values) == missed


def test_a_case_that_nothing_matches_is_a_branch_of_its_own() -> None:
    source = "def taken(value):\n    match value:\n        case 1:\n            return 1\n"
    assert _not_reached(source, 1) == [2]
    assert _not_reached(source, 2) == [4]
    assert branches(source + "        case _:\n            return 2\n") == [2, 4, 6]


def test_what_is_only_declared_and_what_only_types_need_has_no_branches() -> None:
    source = """
    if TYPE_CHECKING:
        import this
    class Declared(Protocol):
        def asked(self) -> int: ...
        @abstractmethod
        def told(self) -> int:
            return 1
        def refused(self) -> int:
            "Why."
            raise NotImplementedError
    while True:
        break
    """
    assert branches(textwrap.dedent(source)) == [13]


def test_a_probe_changes_neither_docstring_nor_line_numbers() -> None:
    probes = BranchProbes()
    names: dict = {REACHED: [0]}
    exec(probes.probed(b'from __future__ import annotations\ndef taken():\n    "Why."\n    1 / 0\n', "made.py"), names)  # noqa: S102
    assert names["taken"].__doc__ == "Why."
    with pytest.raises(ZeroDivisionError) as raised:
        names["taken"]()
    assert raised.traceback[-1].lineno == 3, "counted from 0"


def test_what_numba_compiles_is_not_measured() -> None:
    assert not is_measured("import numpy\nfrom numba import njit\n")
    assert is_measured("# numba\nimport numpy\n")
