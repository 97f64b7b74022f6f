"""How small a store makes models, scenario by scenario, and how much of what is possible that is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from threadpoolctl import threadpool_limits

from assay.benchmarks.weight_scenarios.scenario_config import ScenarioBudget, ScenarioConfig
from assay.benchmarks.weight_scenarios.scenario_data import scenario_data
from assay.benchmarks.weight_scenarios.version_chain import BOOKKEEPING, ChainRun, VersionChain, best_of, run_chain
from assay.benchmarks.weights.results import Readings, ResultLine, SuiteResult
from assay.benchmarks.weights.stores import FLOOR
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.benchmarks.weights.tables import Columns, Table
from assay.weights.element_types import ELEMENT_TYPES
from assay.weights.entropy_limit import RepositoryLimit

TITLES = {
    "similar": "Similar Models",
    "checkpoints": "Checkpoints",
    "transfer": "Transfer Learn",
    "mixed": "Mixed Workload",
    "finetune": "Fine-tunes (5%)",
    "frozen": "Frozen Layers",
    "lora_merged": "LoRA Merged",
    "sparse": "Sparse Updates",
    "training": "Real Training",
}
NEAR = 90.0
"""Percent of the limit from which on a store has all but what the data allows."""
HELD = 3.0
"""Copies of all versions in memory at the worst moment: the makers work in float32, and one version is checked out."""


def exact_cell(line: ResultLine) -> str:
    return line.cell("{wrong_tensors} WRONG") if line["wrong_tensors"] else "all"


COLUMNS: Columns = {
    "Scenario": lambda line: TITLES[line.scenario],
    "Dtype": "{dtype}",
    "Compression": "{compression_ratio:.2f}x",
    "Space Saved": "{space_saved:.1f}%",
    "Of Limit": "{of_limit:.1f}%",
    "Deltas": "{delta_efficiency:.2f}x",
    "Dedup Hits": "{dedup_hit_rate:.0f}%",
    "Exact": exact_cell,
}


class CompressionSuite(BenchmarkSuite):
    name = "compression"
    interpretation: ClassVar[tuple[str, ...]] = (
        "Of Limit: how much of the conditional-entropy limit is reached (64 bytes a tensor allowed)",
        f"{NEAR:.0f}% of the limit and more: little is left to gain, however small the ratio: the data allows no more",
    )

    def get_scenarios(self) -> list[str]:
        return list(TITLES)

    def estimate(self, name: str, config: ScenarioConfig) -> float:
        chains = sum(
            config.machine.chain_s(_megabytes(name, config, dtype), config.versions) for dtype in config.dtypes
        )
        # The limit takes about as long as committing; every further round of a store costs a chain.
        return chains * (2 + len(config.stores) * min(config.iterations, 3))

    def run_scenario(self, name: str, config: ScenarioConfig) -> Readings:
        readings = Readings()
        size = _size(config)
        for number, dtype in enumerate(config.dtypes):
            megabytes = _megabytes(name, config, dtype)
            reason = config.too_big(int(megabytes * 1e6 * HELD))
            if reason:
                readings.note(f"{TITLES[name]}, {dtype}: left out: {reason}")
                continue
            # One thread: a real training run by several would not be the same to the bit twice.
            with threadpool_limits(1):
                chain = VersionChain(scenario_data(name, dtype, size, config.versions, config.seed))
            share = config.budget.part(1 / (len(config.dtypes) - number))
            measure_chain(readings, chain, config, share)
        return readings

    def failures(self, result: SuiteResult, strict: bool) -> Iterable[str]:
        for line in result.lines() if strict else ():
            if wrong := line["wrong_tensors"]:
                yield f"{line.scenario} {' '.join(line.labels.values())}: {wrong} tensors came back wrong"

    def tables(self, result: SuiteResult) -> Iterable[Table]:
        stores = result.stores
        for store in stores:
            lines = [line for line in result.lines() if line.store == store]
            title = "Compression Performance" + (f" ({store})" if len(stores) > 1 else "")
            last = store == stores[-1]
            notes = tuple(
                note
                for note in result.notes
                if note.startswith(f"{store}, ")
                or (last and not note.startswith(tuple(f"{name}, " for name in stores)))
            )
            # What the figures mean is said once, under the last of several tables.
            meaning = (*_meaning(result), *self.interpretation) if last else ()
            yield Table.of(title, COLUMNS, lines, meaning, notes)


def measure_chain(
    readings: Readings, chain: VersionChain, config: ScenarioConfig, share: ScenarioBudget
) -> dict[str, ChainRun]:
    """Every store over the chain, the floor too, as often as there is time for; the best of each is returned."""
    runs: dict[str, list[ChainRun]] = {store: [] for store in dict.fromkeys((*config.stores, FLOOR))}
    for _ in share.rounds(config.iterations):
        for store, done in runs.items():
            with config.scratch() as folder:
                done.append(run_chain(store, chain, folder / "store", config.settings))
    best = {store: best_of(done) for store, done in runs.items()}
    for store in config.stores:
        add_chain(readings.at(store=store, dtype=chain.data.dtype), best[store], runs[store], chain.limit, best[FLOOR])
        if wrong := best[store].wrong:
            others = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            readings.note(f"{store}, {chain.data.name}, {chain.data.dtype}: {wrong[0]}{others}")
    return best


def _meaning(result: SuiteResult) -> Iterable[str]:
    """What is said of ratios, where there is one that it is true of."""
    measured = [(line["compression_ratio"], line["of_limit"], line["limit_ratio"]) for line in result.lines()]
    if any(ratio > 10 for ratio, _, _ in measured):
        yield ">10x compression: Excellent deduplication opportunity"
    if any(5 <= ratio <= 10 for ratio, _, _ in measured):
        yield "5-10x compression: Good optimization potential"
    if any(ratio < 5 and limit < 5 and reached < NEAR for ratio, reached, limit in measured):
        yield "<5x compression, and a limit below 5x: Limited similarity, focus on other optimizations"
    if any(ratio < 5 <= limit and reached < NEAR for ratio, reached, limit in measured):
        yield "<5x compression where the limit is 5x or more: the versions are alike, the store does not use it"
    if any(1 - 1 / ratio > 0.9 for ratio, _, _ in measured):
        yield ">90% space saved: Highly effective for storage costs"


def add_chain(here: ResultLine, best: ChainRun, runs: list[ChainRun], limit: RepositoryLimit, floor: ChainRun) -> None:
    """`best` of `runs` over a chain, judged by the limit of its versions and by what the floor store makes of them."""
    stats = best.stats
    here.add("compression_ratio", best.ratio, "x", "higher", exact=True, margin=BOOKKEEPING)
    here.add("space_saved", 100 * (1 - 1 / best.ratio), "%", "higher")
    here.add("of_limit", 100 * limit.share_reached(best.stored_bytes), "%", "higher", exact=True, margin=BOOKKEEPING)
    here.add("limit_ratio", limit.ratio, "x", exact=True)
    if stats.tensors and (stats.deltas or stats.dedup_hits):
        here.add("dedup_hit_rate", 100 * stats.dedup_hits / stats.tensors, "%", "higher", exact=True)
        here.add("delta_share", 100 * stats.deltas / max(1, stats.unique_tensors), "%", exact=True)
        if stats.deltas:
            efficiency = floor.later_bytes / max(1, best.later_bytes)
            here.add("delta_efficiency", efficiency, "x", "higher", exact=True, margin=BOOKKEEPING)
    for what in ("commit", "checkout"):
        if not getattr(best, f"{what}_mb_per_cpu_s"):
            continue
        speeds = [getattr(run, f"{what}_mb_per_cpu_s") for run in runs]
        ratio = getattr(best, f"{what}_mb_per_cpu_s") / getattr(floor, f"{what}_mb_per_cpu_s")
        here.add(f"{what}_speed", getattr(best, f"{what}_mb_per_cpu_s"), "MB/CPU-s", "higher", speeds)
        here.add(f"{what}_of_safetensors", ratio, "x", "higher")
    here.add("stored_bytes", best.stored_bytes, "B", "lower", exact=True, margin=BOOKKEEPING)
    here.add("logical_bytes", best.logical_bytes, "B", exact=True)
    here.add("wrong_tensors", len(best.wrong), None, "lower", exact=True)


def _size(config: ScenarioConfig) -> int:
    """The largest size of the profile whose chains fit the scenario's share of time; at least the smallest."""
    best = config.smallest
    for size in config.sizes:
        seconds = config.machine.chain_s(size.nbytes(4) * config.versions / 1e6)
        if config.budget.affords(seconds * (2 + len(config.stores)) * len(config.dtypes)):
            best = size
    return best.parameters


def _megabytes(name: str, config: ScenarioConfig, dtype: str) -> float:
    versions = {"mixed": 6, "checkpoints": config.versions + 1}.get(name, config.versions)
    return _size(config) * ELEMENT_TYPES[dtype].itemsize * versions / 1e6


if __name__ == "__main__":
    from assay.benchmarks.weights.program import main

    raise SystemExit(main("compression"))
