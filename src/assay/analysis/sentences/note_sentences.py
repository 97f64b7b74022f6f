"""What a reader should know beside a verdict. It changes none."""

from __future__ import annotations

from assay.analysis.sentences.metric_words import share_in_tenths


def steps(step: float) -> str:
    return f"values come in steps of {share_in_tenths(step)}; smaller changes can't be seen"


def two_groups(where: str, larger: int, of: int, by: float) -> str:
    """`where`: as in `SideNames`; `by`: share by which one group is larger."""
    return f"runs {where} fall into two groups: {larger} of {of} are {share_in_tenths(by)} larger"


def pairs_left_out(count: int) -> str:
    return f"{count} pair{'' if count == 1 else 's'} left out: a run far from all others"


def sessions_compared(sessions: int, *, since_a_change: bool = False) -> str:
    """`since_a_change`: the level is younger than the history."""
    many = "1 earlier session" if sessions == 1 else f"{sessions} earlier sessions"
    return f"compared with the level of {many}{', since it last changed' if since_a_change else ''}"


def confirmation(pairs: int, reason: str) -> str:
    return f"confirmed by {pairs} fresh pairs: {reason}"


def condition(what: str, base: str, where_base: str, head: str, where_head: str) -> str:
    """`CPU time taken by the hypervisor: 1% before, 20% now`."""
    return f"{what}: {base} {where_base}, {head} {where_head}"


def machine_busier(where: tuple[str, str], load: str, other: str) -> str:
    """`the machine was busier in A (1.7 cores used by others, 0.1 in B)`; `where`: the busier side first."""
    return f"the machine was busier {where[0]} ({load}, {other} {where[1]})"


def not_exact(where: str, seen: str) -> str:
    return f"declared exact, but runs {where} gave {seen}"


def machine_moved(moved: str) -> str:
    return f"the machine itself changed: {moved} in a canary, whose code is fixed; other changes may come from it"
