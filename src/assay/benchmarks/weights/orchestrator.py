from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.benchmarks.weight_probes.machine import Machine, probe_machine, this_machine
from assay.benchmarks.weight_scenarios.scenario_config import ScenarioBudget, ScenarioConfig
from assay.benchmarks.weights.bench_plan import BenchPlan, PlannedScenario, Show, SuiteProgress, estimate_of_stores
from assay.benchmarks.weights.profile import BenchmarkProfile, Profile, load_suites
from assay.benchmarks.weights.results import BenchmarkResults, Readings, ScenarioResult, SuiteResult
from assay.benchmarks.weights.settings import SuiteSettings, SystemRequirements, check_system
from assay.benchmarks.weights.stores import store_kind
from assay.benchmarks.weights.suite import BenchmarkSuite
from assay.compat.user_code import with_stand_ins
from assay.errors import AssayError, UsageError
from assay.names import unknown

SCRIPT = "benchmark.py"


def run_legacy(folder: Path) -> bool:
    """`--legacy`: the user's own `benchmark.py`, from before there were suites, is run after them. True unless it
    failed; that there is none is said, and no failure."""
    script = folder / SCRIPT
    if not script.is_file():
        print(f"--legacy: there is no {SCRIPT} in {folder}: the suites were all that ran", flush=True)
        return True
    print(f"--legacy: running {script}", flush=True)
    done = subprocess.run([sys.executable, str(script)], cwd=folder, env=with_stand_ins(os.environ), check=False)
    code = done.returncode
    how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
    print(f"--legacy: {SCRIPT} {how}", flush=True)
    return code == 0


log = logging.getLogger("assay.weights.bench")


class BenchmarkOrchestrator:
    """Runs suites by a profile. `suites` may be added to; results are kept scenario by scenario."""

    def __init__(
        self,
        settings: SuiteSettings | None = None,
        stores: tuple[str, ...] = (),
        strict: bool = False,
        show: Show = lambda text: None,
        on_suite: Callable[[BenchmarkSuite, SuiteResult], None] = lambda suite, result: None,
        on_plan: Callable[[BenchPlan], None] = lambda plan: None,
    ) -> None:
        self.settings = settings or SuiteSettings.from_environment()
        self.suites: dict[str, BenchmarkSuite] = load_suites()
        self.stores = stores
        self.strict = strict
        self._show = show
        self._on_suite = on_suite
        self._on_plan = on_plan

    def validate_system_requirements(self) -> SystemRequirements:
        return check_system(this_machine(self.settings.temp_dir))

    def run_all(
        self,
        profile: BenchmarkProfile | Profile = BenchmarkProfile.STANDARD,
        custom_config: Mapping[str, Any] | None = None,
    ) -> BenchmarkResults:
        chosen = profile if isinstance(profile, Profile) else profile.load(custom_config)
        plan = self.plan(chosen)
        self._on_plan(plan)
        estimates, kinds = [step.estimate_s for step in plan.steps], [step.suite for step in plan.steps]
        progress = SuiteProgress(estimates, kinds, self._show)
        start, results = time.monotonic(), []
        try:
            for name in chosen.suites:
                scenarios = []
                for step in plan.of_suite(name):
                    progress.begin(f"{name}/{step.scenario}")
                    if time.monotonic() - start > chosen.timeout:
                        skipped = f"not begun within the time limit of {chosen.timeout:g} s"
                        scenarios.append(ScenarioResult(step.scenario, Readings(), skipped=skipped))
                    else:
                        scenarios.append(self._run(step, plan.config))
                    progress.end()
                result = self._judge(name, tuple(scenarios))
                results.append(result)
                self._show("")
                self._on_suite(self.suites[name], result)
        finally:
            self._show("")
        return BenchmarkResults(chosen.name, tuple(results), plan.estimate_s, time.monotonic() - start)

    def run_single_suite(self, name: str, profile: BenchmarkProfile | Profile = BenchmarkProfile.QUICK) -> SuiteResult:
        chosen = profile if isinstance(profile, Profile) else profile.load()
        return self.run_all(chosen.model_copy(update={"suites": [name]}))[name]

    def plan(self, profile: Profile) -> BenchPlan:
        for name in profile.suites:
            if name not in self.suites:
                raise UsageError(unknown("suite", name, self.suites))
            self.suites[name].settings = self.settings
        stores = self.stores or tuple(profile.stores) or (f"assay-{self.settings.setting}",)
        names = tuple(store_kind(name).name for name in stores)
        machines = {name: self._probe(name) for name in names}
        config = ScenarioConfig(
            iterations=profile.iterations,
            models=tuple(profile.models),
            timeout=profile.timeout,
            dtypes=tuple(profile.dtypes),
            versions=profile.versions,
            stores=names,
            strict=self.strict,
            settings=self.settings,
            machine=machines[names[0]],
        )
        scenarios = [(name, scenario) for name in profile.suites for scenario in self.suites[name].get_scenarios()]
        # Twice an equal share is what a scenario can hope for; sizes are chosen by it, here and when it runs.
        hoped = replace(config, budget=ScenarioBudget(2 * profile.seconds / max(1, len(scenarios))))

        def estimates(config: ScenarioConfig) -> list[float]:
            return [
                estimate_of_stores(partial(self.suites[name].estimate, scenario), config, machines)
                for name, scenario in scenarios
            ]

        whole, once = estimates(hoped), estimates(replace(hoped, iterations=1))
        steps = [(*named, seconds) for named, seconds in zip(scenarios, whole, strict=True)]
        return BenchPlan.of(profile, config, steps, once, machines)

    def _probe(self, store: str) -> Machine:
        with TemporaryDirectory(prefix="assay-weights-", dir=self.settings.temp_dir) as folder:
            return probe_machine(store, Path(folder))

    def _run(self, step: PlannedScenario, config: ScenarioConfig) -> ScenarioResult:
        suite = self.suites[step.suite]
        wall, cpu = time.perf_counter(), time.process_time()
        readings, error = Readings(), None
        try:
            readings = Readings.of(
                suite.run_scenario(step.scenario, replace(config, budget=ScenarioBudget(step.budget_s)))
            )
        except AssayError as known:
            error = str(known)
        except Exception as unknown:
            log.debug("%s/%s failed", step.suite, step.scenario, exc_info=True)
            error = f"{type(unknown).__name__}: {unknown}"
        spent = (time.perf_counter() - wall, time.process_time() - cpu)
        log.info("%s/%s: %.1f s of %.1f s", step.suite, step.scenario, spent[0], step.budget_s)
        return ScenarioResult(step.scenario, readings, *spent, error=error)

    def _judge(self, name: str, scenarios: tuple[ScenarioResult, ...]) -> SuiteResult:
        result = SuiteResult(name, scenarios)
        return replace(result, failures=tuple(self.suites[name].failures(result, self.strict)))
