from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from assay.benchmarks.weights.probes.machine import Machine
from assay.benchmarks.weights.scenarios.scenario_config import ScenarioConfig


def estimate_of_stores(
    estimate: Callable[[ScenarioConfig], float], config: ScenarioConfig, machines: Mapping[str, Machine]
) -> float:
    """Seconds of a scenario with all its stores, each at the speed that was measured of it.

    A suite estimates for stores of one speed. What a second one of a store adds is that store's own part; the rest
    (making data, finding the limit) is done once, however many stores there are.
    """

    def seconds(store: str, times: int) -> float:
        return estimate(replace(config, stores=(store,) * times, machine=machines[store]))

    own = {store: seconds(store, 2) - seconds(store, 1) for store in config.stores}
    first = config.stores[0]
    return max(0.0, seconds(first, 1) - own[first]) + sum(own.values())
