from __future__ import annotations

from collections import Counter

from assay.loadgen.colocation.colocation import GroupOutcome


def policy_text(outcome: GroupOutcome) -> str:
    """What a policy did in one run, for a person; empty where there was none."""
    if outcome.policy is None:
        return ""
    done = Counter(decision.action for decision in outcome.decisions if not decision.refused)
    counts = ", ".join(f"{count} × {action}" for action, count in sorted(done.items()))
    lines = [f"policy {outcome.policy}: {counts or 'nothing was changed'}"]
    for pipeline in outcome.pipelines:
        if pipeline.paused_s:
            share = pipeline.paused_s / max(pipeline.result.duration, pipeline.paused_s)
            name, lasted = pipeline.config.name, f"{pipeline.result.duration:.3g} s"
            lines.append(f"  {name} stood still for {pipeline.paused_s:.3g} s of {lasted} ({share:.0%})")
    lines += [
        f"  refused at {decision.t:.3g} s: {decision.action} {decision.pipeline} {decision.value}".rstrip()
        + f": {decision.refused}"
        for decision in outcome.decisions
        if decision.refused
    ]
    if outcome.problem:
        lines.append(f"  {outcome.problem}; the run was ended, and what was measured until then is kept")
    return "\n".join(lines)
