from __future__ import annotations

from assay.document.yaml_file import parse_yaml
from assay.document.yaml_node import Mark, YamlNode
from assay.errors import ConfigError, UsageError
from assay.names import unknown


def apply_override(root: YamlNode, text: str) -> YamlNode:
    """`--set entries.NAME.timeout_s=60`: the value is YAML; items of lists are named by their name or number."""
    key, equals, written = text.partition("=")
    steps = key.split(".")
    if not equals or not all(steps):
        raise UsageError(f"--set {text}: write key=value, for example --set default_timeout_s=60")
    try:
        value = parse_yaml(written, "--set").plain() if written else ""
    except ConfigError as error:
        raise UsageError(f"--set {text}: {error}") from None
    return _set(root, steps, YamlNode.of(value, Mark("--set", 1, 1)), text)


def _set(node: YamlNode, steps: list[str], value: YamlNode, text: str) -> YamlNode:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if node.is_list:
        items = list(node.value)
        at = _index(items, step)
        if at is None:
            known = [str(next(iter(_identities(item)), number)) for number, item in enumerate(items)]
            raise UsageError(f"--set {text}: {unknown('item', step, known)}")
        items[at] = _set(items[at], rest, value, text)
        return YamlNode(items, node.mark, node.key)
    children = dict(node.value) if node.is_mapping else {}
    children[step] = _set(children.get(step, YamlNode({}, value.mark)), rest, value, text)
    return YamlNode(children, node.mark, node.key)


def _index(items: list[YamlNode], step: str) -> int | None:
    for at, item in enumerate(items):
        if step in _identities(item):
            return at
    return int(step) if step.isdigit() and int(step) < len(items) else None


def _identities(item: YamlNode) -> list[object]:
    named = (item.get(identity) for identity in ("name", "metric", "type"))
    return [name.value for name in named if name is not None]
