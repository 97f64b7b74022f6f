"""What every command says of itself, at 80 columns."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from golden import check_golden
from workplace import Workplace

GOLDEN = Path(__file__).parent / "golden" / "help"
COMMANDS = {
    "run": "",
    "load": "",
    "plan": "",
    "init": "",
    "rerun": "",
    "prune": "",
    "migrate": "",
    "schema": "",
    "doctor": "",
    "colocate": "",
    "show": "",
    "logs": "",
    "compare": "",
    "accept": "",
    "ab": "",
    "ci": "",
    "calibrate": "",
    "sinks": "list status flush test dashboard",
    "history": "list show import export",
    "report": "",
    "serve": "",
    "publish": "",
    "data": "alm warc documents questions tiny-model",
    "weights": "bench init import export commit checkout log branch tag merge diff stats gc verify migrate push pull "
    "clone",
}
GROUPS = ["", *(name for name, below in COMMANDS.items() if below)]
HELP = ["", *COMMANDS, *(f"{name} {each}" for name, below in COMMANDS.items() for each in below.split())]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return Workplace(tmp_path_factory.mktemp("help"))


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="later versions of argparse break lines elsewhere")
@pytest.mark.parametrize("command", HELP)
def test_the_help_of_a_command_is_as_it_was(place: Workplace, command: str) -> None:
    answer = place.assay(*command.split(), "--help", COLUMNS="80")
    assert (answer.code, answer.err) == (0, "")
    check_golden(GOLDEN / f"{command.replace(' ', '_') or 'assay'}.txt", answer.out)


@pytest.mark.parametrize("group", GROUPS)
def test_the_commands_are_these(place: Workplace, group: str) -> None:
    said = place.assay(*group.split(), "--help", COLUMNS="80").out
    listed = said.partition("positional arguments:\n")[2].partition("\noptions:")[0]
    below = COMMANDS[group].split() if group else list(COMMANDS)
    assert re.findall(r"(?m)^    (\S+)", listed) == below
