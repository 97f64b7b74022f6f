"""Figures a bench prints: each with its bound and whether it holds. Ratios are of one run on one machine."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Figures:
    lines: list[tuple[str, str, str, bool | None]] = field(default_factory=list)

    def add(self, what: str, value: str, bound: str = "", holds: bool | None = None) -> None:
        self.lines.append((what, value, bound, holds))
        print(f"  {what}: {value}", flush=True)

    def finish(self) -> int:
        widths = [max(len(line[n]) for line in self.lines) for n in range(3)]  # type: ignore[arg-type, misc]
        print()
        for what, value, bound, holds in self.lines:
            word = "" if holds is None else "ok" if holds else "MISSED"
            print(f"{what:<{widths[0]}}  {value:<{widths[1]}}  {bound:<{widths[2]}}  {word}".rstrip())
        return 0 if all(line[3] is not False for line in self.lines) else 1
