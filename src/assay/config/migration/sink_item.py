from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from assay.config.migration.block import Block
from assay.document.yaml_node import YamlNode
from assay.errors import ConfigError


@dataclass(frozen=True)
class SinkItem:
    """A service's own block of the older form as an item of `sinks:`, acting when it acted before."""

    name: str
    block: Block
    value: YamlNode
    asked: bool
    """It was asked for with --sink."""
    class_path: str | None = None
    """Class of a sink that was asked for by its path."""

    def plain(self) -> dict[str, Any]:
        keys = self.value.plain() if self.value.is_mapping else {}
        own = {key: value for key, value in keys.items() if key not in ("webhook_env", "enabled")}
        url = {"webhook_url": f"${{{self._variable}}}"} if self.name == "slack" else {}
        switch = {} if self._switch is None else {"enabled": self._switch[0]}
        found = {} if self.class_path is None else {"class": self.class_path}
        return {"name": self.name, **found, **switch, **url, **own}

    def lines(self, indent: str) -> list[str]:
        """Lines of the item, with its comments where its lines can be kept; `indent` is that of the dash."""
        lead = [f"{indent}{line}" for line in self.block.lead]
        comment = self.block.comment
        if comment is None or not self.value.is_mapping or self.value.get("enabled") is not None:
            dumped = yaml.safe_dump([self.plain()], sort_keys=False, allow_unicode=True).splitlines(keepends=True)
            return lead + [f"{indent}{line}" for line in dumped]
        named = f"{indent}- name: {self.name}{f'  {comment}' if comment else ''}\n"
        found = [] if self.class_path is None else [f"{indent}  class: {self.class_path}\n"]
        return [*lead, named, *found, *self._switch_lines(indent), *self._own_lines(indent)]

    def _switch_lines(self, indent: str) -> list[str]:
        if self._switch is None:
            return []
        value, why = self._switch
        written = "false" if value is False else f'"{value}"'
        return [f"{indent}  enabled: {written}  # {why}\n"]

    @property
    def _switch(self) -> tuple[Any, str] | None:
        if self.name == "slack":
            return f"${{{self._variable}:+true}}", "as before: once the variable is set"
        if self.asked:
            return None
        return False, f"as before: only when asked for, now with --set sinks.{self.name}.enabled=true"

    @property
    def _variable(self) -> str:
        variable = self.value.get("webhook_env")
        if variable is None:
            raise ConfigError([f"{self.value.mark}: slack.webhook_env: is missing"])
        return str(variable.value)

    def _own_lines(self, indent: str) -> list[str]:
        """The block's lines, moved to the right; the one that names the webhook's variable says its value now."""
        columns = [child.key.column for child in self.value.value.values() if child.key is not None]
        first = min(columns, default=1) - 1
        moved = []
        for line in self.block.lines[1:]:
            own = line[first:] if not line[:first].strip() else line.lstrip()
            if self.name == "slack" and own.startswith("webhook_env:"):
                comment = own.partition(" #")[2].rstrip()
                own = f"webhook_url: ${{{self._variable}}}{f'  #{comment}' if comment else ''}\n"
            moved.append(f"{indent}  {own}" if own.strip() else "\n")
        return moved
