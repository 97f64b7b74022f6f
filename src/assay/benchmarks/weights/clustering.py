"""Whether grouping tensors by sketch finds the families they were made in, what that saves, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from assay.benchmarks.weight_scenarios.scenario_config import ScenarioBudget, ScenarioConfig
from assay.benchmarks.weight_scenarios.scenario_data import TensorFamilies, tensor_families
from assay.benchmarks.weight_scenarios.version_chain import BOOKKEEPING
from assay.benchmarks.weights.results import Readings, SuiteResult
from assay.benchmarks.weights.stores import store_kind
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.benchmarks.weights.tables import STRATEGIES, Table, details_table, strategies_table
from assay.process.usage import AllocationMeter
from assay.stats.fits import fit_power_law
from assay.weights.base_finder import Clusters, cluster, rebalance
from assay.weights.repository_disk import bytes_on_disk
from assay.weights.store import Tensor

THRESHOLD = 0.98
ELEMENTS = 4096


class ClusteringSuite(BenchmarkSuite):
    name = "clustering"
    interpretation = (
        "Adaptive strategy: Usually best balance of quality and speed",
        "More clusters: Higher granularity, potentially better compression",
        "<10s clustering: Acceptable for most repositories",
        ">2x compression improvement: Clustering is worthwhile",
        "Families: adjusted Rand index against the families the tensors were made in; 1 is all of them",
        "Silhouette: near 1, groups are tight and apart; Davies-Bouldin: the lower the better",
    )

    def get_scenarios(self) -> list[str]:
        return ["strategy_comparison", "scalability", "optimization", "quality_metrics"]

    def estimate(self, name: str, config: ScenarioConfig) -> float:
        own = max(1, len(_own(config)))
        tensors = 12 * _members(config)
        if name == "strategy_comparison":
            return 1.5 + own * len(STRATEGIES) * (
                0.06 * tensors + config.machine.chain_s(2 * tensors * ELEMENTS * 4 / 1e6)
            )
        return 1.0 * config.iterations

    def run_scenario(self, name: str, config: ScenarioConfig) -> Readings:
        readings = Readings()
        getattr(self, f"_{name}")(config, readings)
        return readings

    def _strategy_comparison(self, config: ScenarioConfig, readings: Readings) -> None:
        """A repository filled without a single difference, then repacked by each strategy."""
        families = tensor_families(12, _members(config), ELEMENTS, step=0.01, seed=config.seed, dtype="bfloat16")
        if not _own(config):
            readings.note("repacking is only measured for our own store: no other one clusters")
        for strategy in STRATEGIES:
            here = readings.at(strategy=strategy)
            timed = _time_strategy(families.sketches(), strategy, config.budget.part(0.3), config.iterations)
            here.add("clusters", timed.clusters.count, exact=True)
            here.add("clustering_time", timed.seconds, "s", "lower", timed.samples)
            here.add("memory_overhead", 100 * timed.peak_bytes / families.nbytes, "%", "lower")
            _add_quality(readings, strategy, families, timed.clusters)
            for store in _own(config):
                plain, repacked, seconds = _repack(store, strategy, families, config)
                there = readings.at(strategy=strategy, store=store)
                there.add(
                    "compression_ratio", families.nbytes / repacked, "x", "higher", exact=True, margin=BOOKKEEPING
                )
                there.add("compression_improvement", plain / repacked, "x", "higher", exact=True, margin=BOOKKEEPING)
                there.add("repack_time", seconds, "s", "lower")

    def _scalability(self, config: ScenarioConfig, readings: Readings) -> None:
        counts = [count for count in (4, 8, 16, 32, 64) if count <= max(16, 4 * config.iterations)]
        for number, strategy in enumerate(STRATEGIES):
            part = config.budget.part(1 / (len(STRATEGIES) - number))
            points: list[tuple[int, float]] = []
            for families in counts:
                made = tensor_families(families, 5, 512, seed=config.seed)
                timed = _time_strategy(made.sketches(), strategy, part.part(1 / len(counts)), 3)
                points += [(len(made.truth), seconds) for seconds in timed.samples]
                here = readings.at(strategy=strategy, point=f"{len(made.truth)} tensors")
                here.add("clustering_time", timed.seconds, "s", "lower", timed.samples)
                here.add("tensors", len(made.truth), exact=True)
            fit = fit_power_law([tensors for tensors, _ in points], [seconds for _, seconds in points])
            here = readings.at(strategy=strategy)
            here.add("time_exponent", fit.exponent, None, "lower")
            here.add("time_exponent_low", fit.low)
            here.add("time_exponent_high", fit.high)

    def _optimization(self, config: ScenarioConfig, readings: Readings) -> None:
        """Models of known families are added, then models of new ones: is rebalancing right, and what does it save?"""
        known = tensor_families(12, _members(config) + 2, 512, seed=config.seed)
        new = tensor_families(6, 4, 512, seed=config.seed + 1)
        sketches, fresh = known.sketches(), new.sketches()
        start = len(known.truth) - 2 * 12
        for strategy in STRATEGIES:
            old = cluster(sketches[:start], strategy, THRESHOLD)
            joined = np.concatenate([sketches, fresh])
            truth = (*known.truth, *(12 + family for family in new.truth))
            for what, grown, answer in (("known", sketches, known.truth), ("new", joined, truth)):
                again, again_s = _clock(partial(rebalance, old, grown, THRESHOLD, strategy))
                _, whole_s = _clock(partial(cluster, grown, strategy, THRESHOLD))
                here = readings.at(strategy=strategy, added=what)
                here.add("rebalance_time", again_s, "s", "lower")
                here.add("of_whole_time", again_s / whole_s, "x", "lower")
                here.add("clusters", again.count, exact=True)
                here.add("adjusted_rand", _agreement(answer, again), None, "higher", exact=True)

    def _quality_metrics(self, config: ScenarioConfig, readings: Readings) -> None:
        """Families that lie further and further apart inside: where each strategy loses them."""
        for step in (0.02, 0.1, 0.3):
            families = tensor_families(12, _members(config), 512, step, config.seed)
            for strategy in STRATEGIES:
                found = cluster(families.sketches(), strategy, THRESHOLD)
                readings.at(strategy=strategy, step=f"{step:.0%}").add("clusters", found.count, exact=True)
                _add_quality(readings, strategy, families, found, step=f"{step:.0%}")

    def tables(self, result: SuiteResult) -> Iterable[Table]:
        yield strategies_table(result)
        yield details_table(result, self.interpretation)


@dataclass(frozen=True)
class _StrategyTimes:
    clusters: Clusters
    samples: tuple[float, ...]
    peak_bytes: int

    @property
    def seconds(self) -> float:
        return min(self.samples)


def _time_strategy(sketches: Tensor, strategy: str, budget: ScenarioBudget, most: int) -> _StrategyTimes:
    """A call on next to nothing loads scikit-learn; the next one is traced for memory; then the clock runs."""
    cluster(sketches[:4], strategy, THRESHOLD)
    with AllocationMeter() as allocated:
        clusters = cluster(sketches, strategy, THRESHOLD)
    samples = [_clock(partial(cluster, sketches, strategy, THRESHOLD))[1] for _ in budget.rounds(most, least=2)]
    return _StrategyTimes(clusters, tuple(max(sample, 1e-6) for sample in samples), allocated.peak)


def _clock(call: Callable[[], Clusters]) -> tuple[Clusters, float]:
    """CPU seconds of one thread: threads of a linear-algebra library that wait for work count as busy."""
    with threadpool_limits(1):
        start = time.process_time()
        answer = call()
        return answer, time.process_time() - start


def _repack(store: str, strategy: str, families: TensorFamilies, config: ScenarioConfig) -> tuple[int, int, float]:
    """Bytes before and after, and the seconds it took."""
    kind = store_kind(store, config.settings)
    alone = replace(kind, config={"delta_encoding": "NONE", "clustering_strategy": "none", "enable_gc": False})
    chosen = {"delta_encoding": "AUTO", "similarity_threshold": THRESHOLD, "clustering_strategy": strategy}
    clustered = replace(kind, config=chosen)
    with config.scratch() as folder:
        path = folder / "store"
        with alone.use(path) as filled:
            for model in families.models:
                filled.commit(model)
        before = bytes_on_disk(path)
        repository: Any
        with clustered.use(path) as repository:
            start = time.perf_counter()
            repository.gc(recluster=True)
            seconds = time.perf_counter() - start
        return before, bytes_on_disk(path), seconds


def _add_quality(readings: Readings, strategy: str, families: TensorFamilies, found: Clusters, **labels: str) -> None:
    from sklearn.metrics import davies_bouldin_score, silhouette_score

    here = readings.at(strategy=strategy, **labels)
    if 1 < found.count < len(found.labels):
        sketches = families.sketches()
        here.add("silhouette", float(silhouette_score(sketches, found.labels, metric="cosine")), None, "higher")
        here.add("davies_bouldin", float(davies_bouldin_score(sketches, found.labels)), None, "lower")
    here.add("adjusted_rand", _agreement(families.truth, found), None, "higher", exact=True)


def _agreement(truth: Iterable[int], found: Clusters) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(list(truth), found.labels))


def _own(config: ScenarioConfig) -> list[str]:
    return [store for store in config.stores if store_kind(store).own]


def _members(config: ScenarioConfig) -> int:
    return min(10, 2 + config.iterations)


if __name__ == "__main__":
    from assay.benchmarks.weights.program import main

    raise SystemExit(main("clustering"))
