from __future__ import annotations

from dataclasses import dataclass

from assay.loadgen.colocation.colocation import GroupOutcome, PipelineOutcome

SHORT = 0.5
"""Share of a pipeline's run below which its time beside the others is called short."""
FEW = 20
"""Answers in the time together below which they are called few."""


@dataclass(frozen=True)
class Overlap:
    """The time in which all pipelines of a run were running. Times are seconds from the release."""

    outcome: GroupOutcome

    @property
    def release(self) -> int:
        """Instant of the release on the monotonic clock, in nanoseconds; the earliest start where none was kept."""
        return self.outcome.released_at or min(one.result.started_at for one in self.outcome.pipelines)

    @property
    def begin(self) -> float:
        return self.at(self.outcome.window[0])

    @property
    def end(self) -> float:
        return max(self.at(self.outcome.window[1]), self.begin)

    @property
    def seconds(self) -> float:
        return self.end - self.begin

    def at(self, clock: int) -> float:
        return (clock - self.release) / 1e9

    def span(self, pipeline: PipelineOutcome) -> tuple[float, float]:
        """A pipeline's start and its last answer; no time between them where it was never started."""
        begin = self.at(pipeline.result.started_at) if pipeline.result.started_at else 0.0
        return begin, begin + pipeline.result.duration

    def share(self, pipeline: PipelineOutcome) -> float:
        """Share of the pipeline's own run that the overlap covers, 0 to 1."""
        begin, end = self.span(pipeline)
        inside = min(end, self.end) - max(begin, self.begin)
        return min(max(inside / (end - begin), 0.0), 1.0) if end > begin else 0.0

    def count_answers(self, pipeline: PipelineOutcome) -> int:
        ends = pipeline.result.measured.queries["end"]
        begin, end = self.outcome.window
        return int(((ends >= begin) & (ends < max(end, begin))).sum())

    @property
    def warnings(self) -> list[str]:
        """Warnings about a short overlap or few answers in it; empty for a pipeline that ran alone."""
        if len(self.outcome.pipelines) < 2:
            return []
        if self.seconds <= 0:
            return ["the pipelines did not run at the same time: nothing is known of what they do to each other"]
        found = []
        for pipeline in self.outcome.pipelines:
            name, share, answered = pipeline.config.name, self.share(pipeline), self.count_answers(pipeline)
            if share < SHORT:
                length = pipeline.result.duration
                found.append(
                    f"the overlap is short: all ran together for {self.seconds:.3g} s, {share:.0%} of the "
                    f"{length:.3g} s that {name} ran"
                )
            if answered < FEW:
                found.append(f"few answers in the overlap: {answered} of {name}")
        return found
