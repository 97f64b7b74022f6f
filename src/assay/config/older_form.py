from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.config.session_config import SessionConfig
from assay.document.yaml_node import Mark, YamlNode, read_config
from assay.errors import ConfigError
from assay.files.json_text import BrokenJson, parse_json
from assay.files.reading import Unreadable

SERVICES = ("mlflow", "wandb")


@dataclass(frozen=True)
class OlderForm:
    """`--matrix F --datasets F [--sink NAME]`, and what differs with it from the newer form."""

    matrix: Path
    datasets: Path | None
    sink: str = "none"
    is_sink: Callable[[str], bool] = lambda name: False
    """Whether a name is that of a sink of the user's own, whose block then waits to be asked for."""


def to_newer(root: YamlNode, form: OlderForm, environment: Mapping[str, str]) -> YamlNode:
    """The same file in the newer form. `mlflow:` acts only when it is asked for, as does the block of a sink of the
    user's own; `slack:` when its variable is set."""
    name, keys, mark = find_asked_sink(root, form.sink)
    waiting = (name, *SERVICES, "slack")
    known = SessionConfig.model_fields
    children = {
        key: child
        for key, child in root.value.items()
        if key not in waiting and not (key not in known and child.is_mapping and form.is_sink(key))
    }
    sinks = list(children["sinks"].value) if "sinks" in children and children["sinks"].is_list else []
    if form.sink != "none":
        sinks.append(YamlNode({"name": YamlNode(name, root.mark), **keys}, mark))
    slack = root.get("slack")
    if slack is not None:
        variable = slack.get("webhook_env")
        if variable is None:
            raise ConfigError([f"{slack.mark}: slack.webhook_env: is missing"])
        if environment.get(str(variable.value)):
            keys = {key: child for key, child in slack.value.items() if key != "webhook_env"}
            url = YamlNode(f"${{{variable.value}}}", variable.mark)
            sinks.append(YamlNode({"name": YamlNode("slack", slack.mark), "webhook_url": url, **keys}, slack.mark))
    if sinks:
        children["sinks"] = YamlNode(sinks, root.mark)
    if form.datasets is not None:
        children["datasets"] = read_dataset_paths(form.datasets)
    return YamlNode(children, root.mark)


def find_asked_sink(root: YamlNode, sink: str) -> tuple[str, dict[str, YamlNode], Mark]:
    """The name, keys and place of what `--sink` asks for: a name, or the dotted path of a class or its module. The keys
    of `sinks.custom_sink.CustomSink` stand in a block `custom:` (or `custom_sink:`, `CustomSink:`)."""
    words = re.split("[.:]", sink)
    dotted = len(words) > 1
    names = [each for word in reversed(words) for each in (word.removesuffix("_sink"), word)] if dotted else [sink]
    found = next((name for name in names if (block := root.get(name)) is not None and block.is_mapping), None)
    block = root.get(found) if found is not None else None
    keys = {"class": YamlNode(sink, root.mark)} if dotted else {}
    if block is None:
        return next((name for name in names if name[:1].islower()), sink), keys, root.mark
    return found or sink, {**keys, **block.value}, block.mark


def read_dataset_paths(path: Path) -> YamlNode:
    """`{"name": {"format": "path"}}` as the newer form's list."""
    mark = Mark(str(path), 1, 1)
    try:
        written = parse_json(read_config(path).encode(), path)
    except BrokenJson as error:
        raise ConfigError([f"{path}:{error.place}"]) from None
    except Unreadable as error:
        raise ConfigError([str(error)]) from None
    problems = []
    datasets = []
    if not isinstance(written, dict):
        raise ConfigError([f'{path}: must be an object such as {{"name": {{"jsonl": "/path"}}}}'])
    for name, formats in written.items():
        if not isinstance(formats, dict) or not all(isinstance(item, str) for item in formats.values()):
            problems.append(f'{path}: {name}: must be an object such as {{"jsonl": "/path"}}')
            continue
        items = [
            YamlNode({"type": YamlNode(kind, mark), "path": YamlNode(place, mark)}, mark)
            for kind, place in formats.items()
        ]
        datasets.append(YamlNode({"name": YamlNode(name, mark), "formats": YamlNode(items, mark)}, mark))
    if problems:
        raise ConfigError(problems)
    return YamlNode(datasets, mark)
