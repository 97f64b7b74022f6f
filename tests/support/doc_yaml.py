"""YAML of the documentation, read by what reads it: a session, pipelines under load, a profile of suites."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from doc_block import Block

from assay.benchmarks.weights.profile import Profile, load_profile
from assay.config.load_config import load_config
from assay.config.session_config import SessionConfig
from assay.loadgen.colocation.read_config import read_config

AN_ENTRY = "\nentries: [{name: an_entry, command: 'true'}]\n"


def check_yaml(block: Block, folder: Path) -> None:
    """A block that says why it is not run is a piece of a file, or names what only a reader has: it only parses."""
    written = yaml.safe_load(block.text)
    if not block.runs or block.page.startswith("docs/migrate/"):
        return
    assert isinstance(written, dict), f"{block.place}: no file looks like this; say why with <!-- not run: … -->"
    path = folder / "block.yaml"
    path.write_text(block.text + ("" if "entries" in written else AN_ENTRY), encoding="utf-8")
    if "pipelines" in written:
        path.write_text(block.text, encoding="utf-8")
        read_config(path)
    elif set(written) <= {*SessionConfig.model_fields}:
        variables = dict.fromkeys(re.findall(r"\$\{(\w+)", block.text), "1")
        load_config([path], variables)
    elif set(written) <= {*Profile.model_fields}:
        path.write_text(block.text, encoding="utf-8")
        load_profile(str(path))
    else:
        raise AssertionError(f"{block.place}: no file has these keys; say why with <!-- not run: … -->")
