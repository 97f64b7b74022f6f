from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from assay.fallback.words import said_of
from assay.sinks.own_sink import located
from assay.sinks.registry import is_named
from assay.sinks.spec_check import check_spec
from assay.sinks.trial import try_sink


@dataclass(frozen=True)
class PlannedSinks:
    """A plan's sinks, found and checked; a user's own has been made once, in a process that is gone."""

    specs: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[tuple[int, str], ...] = ()
    """With the place of the sink in the file's list."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, written: Mapping[int, Mapping[str, Any]], folders: Sequence[Path]) -> Self:
        specs = {at: sink if is_named(sink) else located(sink, folders) for at, sink in written.items()}
        problems = {at: check_spec(sink) for at, sink in specs.items()}
        trials = {at: try_sink(sink) for at, sink in specs.items() if not problems[at]}
        return cls(
            tuple(specs.values()),
            tuple((at, why) for at in specs for why in problems[at] or trials[at].problems),
            tuple(
                f"sink {specs[at].get('name') or specs[at]['class']}: {said_of(trial.stand_ins)}"
                for at, trial in trials.items()
                if trial.stand_ins
            ),
        )
