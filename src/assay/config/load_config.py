from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.config.merge_configs import duplicates, expand_matrix, merge, without
from assay.config.older_form import to_newer
from assay.config.placeholders import Variables
from assay.config.selection import apply_override
from assay.config.service import with_default_service
from assay.config.session_config import SessionConfig
from assay.document.validation import validate
from assay.document.yaml_file import read_yaml
from assay.document.yaml_node import KeyPath, YamlNode
from assay.errors import ConfigError

if TYPE_CHECKING:
    from assay.config.older_form import OlderForm


SWITCHED = ("entries", "data_setups", "sinks", "datasets")
"""Lists whose items may be switched off."""


@dataclass(frozen=True)
class Config:
    """What the files say, validated; `root` knows where each thing was said."""

    session: SessionConfig
    root: YamlNode
    files: tuple[Path, ...]
    older_form: bool = False
    lenient: bool = False
    """Variables that are not set are empty, with a warning."""
    warnings: tuple[str, ...] = ()
    emptied: tuple[tuple[KeyPath, str], ...] = ()
    """Where such a variable stands, and its name."""


def load_config(
    files: Sequence[Path],
    environment: Mapping[str, str],
    overrides: Sequence[str] = (),
    lenient: bool = False,
    without_sinks: Sequence[str] = (),
) -> Config:
    root = without(_merge([_read(file) for file in files]), without_sinks)
    return _load(root, tuple(files), Variables(environment, lenient), overrides, older=False, lenient=lenient)


def load_older(
    form: OlderForm,
    environment: Mapping[str, str],
    overrides: Sequence[str] = (),
    lenient: bool = False,
    without_sinks: Sequence[str] = (),
) -> Config:
    root = without(to_newer(_read(form.matrix), form, environment), without_sinks)
    return _load(root, (form.matrix,), Variables(environment, lenient), overrides, older=True, lenient=lenient)


def _load(
    root: YamlNode, files: tuple[Path, ...], variables: Variables, overrides: Sequence[str], older: bool, lenient: bool
) -> Config:
    for override in overrides:
        root = apply_override(root, override)
    root = _without_empty(_without_notes(_keep_enabled(root, variables)))
    root, problems = _expand(with_default_service(root))
    root = variables.substitute(root)
    problems += variables.problems
    try:
        session = validate(SessionConfig, root)
    except ConfigError as error:
        raise ConfigError(problems + error.problems) from None
    problems += _same_names(session, root)
    if problems:
        raise ConfigError(problems)
    warnings, emptied = tuple(variables.warnings), tuple(variables.emptied)
    return Config(session, root, files, older, lenient, warnings, emptied)


def _read(file: Path) -> YamlNode:
    root = read_yaml(file)
    if not root.is_mapping:
        raise ConfigError([f"{root.mark}: must be a mapping such as `entries: …`"])
    problems = duplicates(root)
    if problems:
        raise ConfigError(problems)
    return root


def _merge(roots: Sequence[YamlNode]) -> YamlNode:
    merged = roots[0]
    for later in roots[1:]:
        merged = merge(merged, later)
    return merged


def _keep_enabled(root: YamlNode, variables: Variables) -> YamlNode:
    """What is switched off is not looked at further: its variables may be unset, its keys wrong."""
    children = dict(root.value)
    for key in SWITCHED:
        items = children.get(key)
        if items is not None and items.is_list:
            children[key] = YamlNode(
                [_on(item) for item in items.value if _is_on(item, variables)], items.mark, items.key
            )
    return YamlNode(children, root.mark)


def _on(item: YamlNode) -> YamlNode:
    """A switch that a variable has set to true is a true one."""
    switch = item.get("enabled")
    if switch is None or not isinstance(switch.value, str):
        return item
    return YamlNode(
        {**item.value, "enabled": YamlNode(True, switch.mark, switch.key)}, item.mark, item.key, item.anchored
    )


def _is_on(item: YamlNode, variables: Variables) -> bool:
    switch = item.get("enabled")
    if switch is None:
        return True
    if isinstance(switch.value, str):
        return variables.text(switch.value, str(switch.mark)).strip().lower() not in ("", "false", "no", "off", "0")
    return switch.value is not False


def _without_notes(root: YamlNode) -> YamlNode:
    """`x-…` keys, and top-level keys that only hold an anchor, are the author's own."""
    known = SessionConfig.model_fields
    children = {
        key: child
        for key, child in root.value.items()
        if not key.startswith("x-") and (key in known or not _holds_anchor(child))
    }
    return YamlNode({key: _without_x(child) for key, child in children.items()}, root.mark)


def _without_empty(root: YamlNode) -> YamlNode:
    """A key of the session or of an entry with nothing behind it (its list is commented out) is as good as not there.
    Only `ray:` and `service:` of an entry mean something empty."""
    children = {key: child for key, child in root.value.items() if child.value is not None}
    for key in ("entries", "data_setups"):
        if key in children and children[key].is_list:
            items = [_without_empty_keys(item) for item in children[key].value]
            children[key] = YamlNode(items, children[key].mark, children[key].key)
    return YamlNode(children, root.mark)


def _without_empty_keys(entry: YamlNode) -> YamlNode:
    if not entry.is_mapping:
        return entry
    kept = {key: child for key, child in entry.value.items() if child.value is not None or key in ("ray", "service")}
    return YamlNode(kept, entry.mark, entry.key, entry.anchored)


def _without_x(node: YamlNode) -> YamlNode:
    if node.is_mapping:
        kept = {key: _without_x(child) for key, child in node.value.items() if not key.startswith("x-")}
        return YamlNode(kept, node.mark, node.key, node.anchored)
    if node.is_list:
        return YamlNode([_without_x(child) for child in node.value], node.mark, node.key, node.anchored)
    return node


def _holds_anchor(node: YamlNode) -> bool:
    if node.anchored:
        return True
    children = node.value.values() if node.is_mapping else node.value if node.is_list else ()
    return any(_holds_anchor(child) for child in children)


def _expand(root: YamlNode) -> tuple[YamlNode, list[str]]:
    children = dict(root.value)
    problems: list[str] = []
    for key in ("entries", "data_setups"):
        items = children.get(key)
        if items is None or not items.is_list:
            continue
        expanded: list[YamlNode] = []
        for item in items.value:
            entries, wrong = expand_matrix(item)
            expanded += entries
            problems += wrong
        children[key] = YamlNode(expanded, items.mark, items.key)
    return YamlNode(children, root.mark), problems


def _same_names(session: SessionConfig, root: YamlNode) -> list[str]:
    """Merging and `matrix:` can make two entries of one name; some file systems do not tell folders apart by case."""
    problems = []
    seen: dict[str, str] = {}
    for key, entries in (("data_setups", session.data_setups), ("entries", session.entries)):
        for index, entry in enumerate(entries):
            mark = root.at((key, index, "name")).mark
            folded = entry.name.casefold()
            if folded in seen:
                problems.append(
                    f"{mark}: {key}[{index}].name: {entry.name!r} is also the name of an entry at {seen[folded]}"
                )
            seen.setdefault(folded, str(mark))
    return problems
