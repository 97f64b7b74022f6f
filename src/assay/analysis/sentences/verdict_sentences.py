"""The reason of a verdict: how far it moved and why that is believed, or why nothing can be told and what to try."""

from __future__ import annotations

from math import exp, expm1, inf, log1p

from assay.analysis.sentences.metric_words import MetricWords, SideNames, share, share_in_tenths
from assay.stats.shift import Shift

MORE_RUNS = "try more runs"
IN_TURN = "try `assay ab`, which runs both in turn"
REPEAT = 6
"""Runs of an entry that are advised: enough for a verdict, should one or two fail."""
NEXT_SESSIONS = "the next sessions will tell, or try `assay ab` now"


def more_pairs(pairs: int) -> str:
    return f"try {2 * pairs} pairs"


def no_change(margin: float) -> str:
    return f"within {share(margin)}"


def change(words: MetricWords, shift: Shift, margin: float) -> str:
    return words.judge_change(_ratio(shift.estimate)) + _beyond(shift, margin)


def holds_no_change(words: MetricWords, shift: Shift, advice: str) -> str:
    if -inf < shift.low and shift.high < inf:
        low, high = words.end(_ratio(shift.low)), words.end(_ratio(shift.high))
        return f"can't tell: between {low} and {high}; {advice}"
    return f"can't tell from so few runs; {advice}"


def within_noise(words: MetricWords, shift: Shift, advice: str) -> str:
    noise = share(expm1(_towards(shift.floor, shift.estimate)))
    return f"can't tell: {words.change(_ratio(shift.estimate))}, but noise alone can reach {noise}; {advice}"


def may_be_chance(words: MetricWords, shift: Shift, advice: str) -> str:
    return f"can't tell: {words.change(_ratio(shift.estimate))}, which may be chance; {advice}"


def one_of_many(words: MetricWords, shift: Shift) -> str:
    """Believed alone, but not among all rows of the table."""
    change = words.change(_ratio(shift.estimate))
    return f"can't tell: {change}, but among so many metrics one looks so by chance; run this entry alone"


def near_the_margin(words: MetricWords, shift: Shift, margin: float) -> str:
    far = words.end(_ratio(shift.high if shift.estimate > 0 else shift.low))
    change = words.change(_ratio(shift.estimate))
    return f"can't tell if it matters: {change}, perhaps {far} (changes under {share(margin)} are ignored)"


def no_direction(change: str) -> str:
    return f"{change}; say which way is better: `better: lower` or `better: higher` under `metrics:`"


def sometimes_slow(count: int, of: int, times: float, where: str, other: str) -> str:
    """Runs of one side that the other has none of. `where`, `other`: as in `SideNames`."""
    return f"{count} of {of} runs {where} gave {times:.1f} times the usual value {other}"


def typical_unchanged(margin: float, but: str) -> str:
    return f"can't tell: the typical run is within {share(margin)}, but {but}"


def lasting_change(words: MetricWords, away: float, reach: float) -> str:
    usual = share(expm1(_towards(reach, away)))
    return f"{words.judge_change(_ratio(away))}, two or more sessions in a row (they usually differ by up to {usual})"


def first_change(words: MetricWords, away: float, reach: float) -> str:
    usual = share(expm1(_towards(reach, away)))
    change = words.change(_ratio(away))
    return f"not confirmed yet: {change} (sessions usually differ by up to {usual}); the next one will tell"


def as_sessions_differ(words: MetricWords, away: float, reach: float) -> str:
    usual = share(expm1(reach))
    return f"can't tell: {words.change(_ratio(away))}, but sessions usually differ by up to {usual}; {IN_TURN}"


def load_explains(words: MetricWords, ratio: float, busier: str, times: float) -> str:
    """`busier`: which side's machine had more load; `times`: how many times as long that alone can make it."""
    change = words.change(ratio)
    return f"can't tell: {change}, but {busier}, that explains {_far(times)}; {_SETTLE}"


def load_hides(margin: float, busier: str, times: float) -> str:
    """Says why runs that look alike are not equivalent."""
    return f"can't tell: within {share(margin)}, but {busier}, that hides {_far(times)}; {_SETTLE}"


_SETTLE = "try `assay ab` or `usage.cpu_s`"


def _far(times: float) -> str:
    return share_in_tenths(times - 1) if times < 2 else f"{times:.2g}×"


def few_runs(runs: tuple[int, int], needed: int, sides: SideNames, *, paired: bool, samples: int = 0) -> str:
    """`samples`: measured within the runs, where there is one run on each side."""
    enough = "`--pairs 10`" if paired else f"`assay ab`, or `repeat: {REPEAT}`"
    if runs == (1, 1):
        if samples:
            enough = f"{samples} samples within them don't show how runs differ"
        else:
            enough = f"try {enough}"
        return f"can't tell from one run on each side; needs {needed - 1} more on each: {enough}"
    both = zip(runs, (sides.base, sides.head), strict=True)
    missing = " and ".join(f"{needed - count} more {where}" for count, where in both if count < needed)
    return f"can't tell from {runs[0]} and {runs[1]} runs; needs {missing}: try {enough}"


def few_values(base: int, head: int) -> str:
    """Says that there are too few numbers; somebody handed them over, so no command can be advised."""
    return f"can't tell from {f'{base} and {head} runs' if base + head > 2 else 'one run on each side'}"


def not_confirmed(reason: str, again: str | None) -> str:
    """Looked regressed, and fresh pairs do not say so. `again`: what they say; None if there are none."""
    said = "it could not be run again" if again is None else f"fresh pairs say: {again}"
    return f"can't tell: at first {reason}; then {said}"


def _beyond(shift: Shift, margin: float) -> str:
    """What it was held against: the larger of what is ignored and what noise does."""
    change = abs(expm1(shift.estimate))
    if shift.floor > log1p(margin):
        return f" (noise alone rarely exceeds {share(expm1(_towards(shift.floor, shift.estimate)))})"
    if margin <= 0:
        return ""
    # A margin of 3% is a factor of 1.03 either way: downwards that is 2.9%.
    ignored = margin if change >= margin else abs(expm1(-log1p(margin)))
    return f" (changes under {share(ignored)} are ignored)"


def _towards(size: float, estimate: float) -> float:
    """A logarithm in the direction of the change: as far as +100% is −50%."""
    return size if estimate > 0 else -size


def _ratio(logarithm: float) -> float:
    return exp(logarithm)
