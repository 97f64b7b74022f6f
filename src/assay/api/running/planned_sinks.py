from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from assay.fallback.words import describe_used
from assay.sinks.own_sink import locate
from assay.sinks.registry import is_named
from assay.sinks.sink_trial import SinkTrial, try_sink
from assay.sinks.spec_check import check_spec

Emptied = Mapping[int, Mapping[str, str]]


@dataclass(frozen=True)
class PlannedSinks:
    """A plan's sinks, found and checked; a user's own has been made once, in a process that is gone."""

    specs: tuple[Mapping[str, Any], ...] = ()
    problems: tuple[tuple[int, str], ...] = ()
    """Place of the sink in the file's list, and what is wrong with it."""
    left_out: tuple[tuple[int, str], ...] = ()
    """What lacks only an unset variable, with a lenient reading."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, written: Sequence[Mapping[str, Any]], folders: Sequence[Path], emptied: Emptied) -> Self:
        """`emptied`: the keys of each sink that an unset variable left empty → the variable's name."""
        specs = {at: sink if is_named(sink) else locate(sink, folders) for at, sink in enumerate(written)}
        problems = {at: check_spec({**sink, **emptied.get(at, {})}) for at, sink in specs.items()}
        sound = [at for at in specs if not problems[at]]
        lacking = {at: why[0] for at in sound if at in emptied and (why := check_spec(specs[at]))}
        trials = {at: try_sink(specs[at]) for at in sound if at not in lacking}
        lacking |= {
            at: trial.problems[0]
            for at, trial in trials.items()
            if at in emptied and trial.problems and not _with_values(specs[at], emptied[at], trial)
        }
        trials = {at: trial for at, trial in trials.items() if at not in lacking}
        return cls(
            tuple(sink for at, sink in specs.items() if at not in lacking),
            tuple((at, why) for at in specs for why in problems[at] or (trials[at].problems if at in trials else ())),
            tuple((at, f"is left out, as {_unset(emptied[at])} not set: {why}") for at, why in lacking.items()),
            tuple(
                f"sink {specs[at].get('name') or specs[at]['class']}: {describe_used(trial.stand_ins)}"
                for at, trial in trials.items()
                if trial.stand_ins
            ),
        )


def _with_values(spec: Mapping[str, Any], emptied: Mapping[str, str], trial: SinkTrial) -> set[str]:
    """What would still be wrong with a user's own sink if the variables were set."""
    return {*trial.problems} & {*try_sink({**spec, **emptied}).problems}


def _unset(emptied: Mapping[str, str]) -> str:
    names = list(dict.fromkeys(emptied.values()))
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"
