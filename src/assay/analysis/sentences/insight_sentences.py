"""What stands out in results: what it is, the numbers it rests on, and what to do about it. Three short parts each."""

from __future__ import annotations

from typing import NamedTuple

from assay.analysis.sentences.metric_words import share_in_tenths

LEAK = "find what holds on to it: run with `profiler: memray`"


class InsightText(NamedTuple):
    says: str
    evidence: str
    advice: str


def slow_stage(
    stage: str, share: float, stages: int, *, seconds: float, everything: float, calls: int, wall: float, gain: float
) -> InsightText:  # fmt: skip
    """`wall`: seconds that all runs took; stages that ran at the same time add up to more."""
    inside = wall > everything
    beside = f"; the runs took {wall:.3g} s" if inside else ""
    return InsightText(
        f"stage {stage} takes {share:.0%} of the time of all {stages} stages",
        f"{seconds:.3g} s of {everything:.3g} s in {calls} call{'' if calls == 1 else 's'}{beside}",
        f"make {stage} faster or give it more workers: twice as fast, the whole would be "
        f"{'' if inside else 'at most '}{gain:.2f} times as fast",
    )


def slow_stage_of_pipeline(
    pipeline: str, stage: str, share: float, stages: int, *, seconds: float, everything: float, calls: int
) -> InsightText:  # fmt: skip
    return InsightText(
        f"in pipeline {pipeline}, stage {stage} takes {share:.0%} of the time of its {stages} stages",
        f"{seconds:.3g} s of {everything:.3g} s in {calls} call{'' if calls == 1 else 's'}",
        f"make {stage} faster: twice as fast, the stages of {pipeline} take {share / 2:.0%} less time together",
    )


def below_the_limit(store: str, share: float, ratio: float | None, limit: float | None, advice: str) -> InsightText:
    rests = "" if ratio is None or limit is None else f": {ratio:.2f} times smaller where {limit:.2f} is possible"
    return InsightText(f"{store} could be smaller", f"{share:.0%} of what is possible{rests}", advice)


def few_differences(store: str, share: float) -> str:
    return (
        f"only {share:.0%} of the tensors in {store} are kept as a difference: "
        "if versions are alike, lower its similarity_threshold"
    )


def smaller_setting(store: str, setting: str) -> str:
    """`setting`: a smaller one of our own store; empty where this is the smallest."""
    other = f"the setting {setting} in place of {store}, or " if setting else ""
    return f"try {other}clustering (clustering_strategy), which may find a better match for each tensor"


def wrong_tensors(store: str, wrong: float) -> InsightText:
    return InsightText(
        f"{store} did not give back every tensor",
        f"{wrong:g} wrong",
        "do not trust this store with weights until the cause is found",
    )


def slowdown(who: str, what: str, other: str, times: float, low: float, high: float | None, rounds: str) -> InsightText:
    """`other`: empty for a copy of itself."""
    interval = f"95% interval {low:.2f} to {high:.2f}" if high is not None else f"at least {low:.2f}"
    return InsightText(
        f"{who} loses {what} beside {other or 'a copy of itself'}: {times:.2f} times worse than alone",
        interval + rounds,
        "give each its own processors (`cpus: [0]`, `cpus: [1]`), or separate machines",
    )


def knee(name: str, load: str, at: float, highest: float, rests: str) -> InsightText:
    return InsightText(
        f"{name}: above {load} {at:g} requests wait for each other",
        rests,
        f"keep the load at {at:g} or below, or add capacity; measured up to {highest:g}",
    )


def falls_behind(name: str, asked: float, done: float) -> InsightText:
    return InsightText(
        f"{name} does not keep up with what is asked of it",
        f"{done:.3g} of {asked:.3g} a second",
        "its latencies are of a growing queue: lower the rate, or sweep it to find what it can do",
    )


def warm_up(name: str, note: str, median: float, mean: float, advice: str) -> InsightText:
    """`median`, `mean`: shares by which they are off with the warm-up in."""
    return InsightText(f"{name}: {note}", f"with it the median is {_off(median)}, the mean {_off(mean)}", advice)


def not_settled() -> str:
    return "let it iterate longer, until it settles"


def gets_worse() -> str:
    return "it is better at first than afterwards: look for what builds up (memory, heat, a queue, files)"


def iterate_before(iterations: int) -> str:
    return (
        f"let the program do {iterations} iteration{'' if iterations == 1 else 's'} before those it measures "
        "(`warmup:` starts another process and does not help)"
    )


def outliers(name: str, count: int, of: int, number: int, value: float, median: float) -> InsightText:
    return InsightText(
        f"{name}: {count} of {of} values {'is' if count == 1 else 'are'} far from the rest",
        f"number {number} is {value:.4g}, the median {median:.4g}",
        "they are kept: look at what happened then, and read the median, not the mean",
    )


def noisy(name: str, variation: float, runs: int, low: float, high: float, smallest: float) -> InsightText:
    """`smallest`: share of the smallest change that so many runs can show."""
    return InsightText(
        f"{name} varies by {variation:.0%} from run to run",
        f"{runs} runs, {low:.4g} to {high:.4g}",
        f"{runs} runs hardly show a change under {smallest:.0%}; try `assay ab`, which runs two versions in turn",
    )


def disturbance(count: int, of: int, run: str, how: str, *, shared: bool) -> InsightText:
    """`shared`: others took what it could have had; otherwise its own quota held it back."""
    was = "was" if count == 1 else "were"
    what = f"{was} not alone on the machine" if shared else f"{was} held back by the CPU quota"
    then = "measure when the machine is quiet" if shared else "give it a larger quota"
    return InsightText(
        f"{count} of {of} runs {what}" if of > 1 else f"the run {what}",
        f"{run}: {how}",
        f"read CPU time beside the clock's, or {then}",
    )


def leaks(operation: str, name: str, slope: float | None, low: float | None, high: float | None) -> InsightText:
    known = slope is not None and low is not None and high is not None
    evidence = f"{slope:.3g} each time, 95% interval {low:.3g} to {high:.3g}" if known else f"{name} is true"
    return InsightText(f"memory grows with every {operation}", evidence, LEAK)


def rises(mb_per_s: float, first: float, last: float) -> InsightText:
    return InsightText(
        "memory rises to the end of the run",
        f"{mb_per_s:.3g} MB a second over the last two thirds, {first:.0f} to {last:.0f} MB",
        f"if it should be steady, {LEAK}; otherwise run longer, to see where it ends",
    )


def steep(what: str, exponent: float, low: float, high: float) -> InsightText:
    return InsightText(
        f"{what} grows faster than the size: ten times the size costs {10**exponent:.0f} times as much",
        f"power {exponent:.2f}, 95% interval {low:.2f} to {high:.2f}; 1 is in proportion",
        "look for work over pairs, growing copies or a cache that is outgrown",
    )


def inefficient(what: str, efficiency: float) -> InsightText:
    return InsightText(
        f"more {what} help little",
        f"{efficiency:.0%} of the ideal speed-up",
        "look for what is shared: a lock, one reader or writer, memory bandwidth, too few processors",
    )


def _off(share: float) -> str:
    return "right" if not share else f"{share_in_tenths(share)} too {'high' if share > 0 else 'low'}"
