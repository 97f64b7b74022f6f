from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from tools.site.reference.markdown import code, page, prose, table
from tools.site.reference.metric_inventory import ORDER, MetricRow, metric_rows

SUMMARY = (
    "Every metric of Assay itself and of its bundled programs: what it means, its unit, and which way is better. "
    "`<…>` stands for a name. *Exact* metrics are counted, not timed: any change of them counts, from one run "
    "([comparison](../compare.md)). Statistics of timed blocks are `task_<stage>_<metric>_{sum,mean,std,p50,p95,p99}` "
    "([results](../results.md))."
)
USAGE = {
    "wall_s": "From the start to the end of the last process.",
    "cpu_user_s": "Part of cpu_s in the program's own code.",
    "cpu_system_s": "Part of cpu_s in the kernel.",
    "mean_rss_mb": "Mean resident memory of the whole tree.",
    "read_mb": "Megabytes read from disk.",
    "write_mb": "Megabytes written to disk.",
    "peak_threads": "Most threads at once.",
    "peak_processes": "Most processes at once.",
    "steal_share": "Share of the machine's CPU time that the hypervisor gave to others.",
    "neighbour_cpu_s": "CPU time of processes outside the run.",
    "throttled_s": "Time in which a CPU quota held the run back.",
    "cores": "Processors of the machine.",
    "run_queue_s": "Seconds that the run's threads were ready to run while others had the processors, all together.",
    "pressure_cpu_s": "Seconds in which something on the machine waited for a processor (PSI).",
    "pressure_io_s": "The same for a disk.",
    "pressure_memory_s": "The same for memory.",
    "gpu_peak_memory_mb": "Most GPU memory of the run.",
    "gpu_mean_utilisation": "Mean share of the time in which its GPUs were busy.",
    "samples": "Rows of usage.csv that peaks and means rest on.",
}


def metrics_page() -> str:
    return page("Metrics", SUMMARY, _parts())


def _parts() -> Iterator[str]:
    for group in ORDER:
        yield f"## {group}"
        rows = [row for row in metric_rows() if row.group == group]
        yield _table(group, rows)
        if group == "Every run":
            yield (
                "Further totals of a record that a requirement may name, as `usage.<name>`. `run_queue_s` and the "
                "pressures are left out where the kernel does not tell them:"
            )
            yield table(["name", "what it is"], [[code(f"usage.{name}"), said] for name, said in USAGE.items()])
        if group == "Load on an endpoint":
            yield "The times, each with percentiles and mean, and what else has a formula:"
            yield table(["quantity", "formula"], [[code(name), prose(said)] for name, said in formulas().items()])


def _table(group: str, rows: list[MetricRow]) -> str:
    return table(
        ["metric", "what it is", "unit", "better"],
        [
            [code(row.name), prose(meaning(row)), row.unit, "exact" + _behind(row) if row.exact else row.better]
            for row in rows
        ],
    )


def _behind(row: MetricRow) -> str:
    return f", {row.better}" if row.better else ""


def meaning(row: MetricRow) -> str:
    return formulas().get(row.name) or definitions()[row.group].get(row.name, "")


@cache
def definitions() -> dict[str, dict[str, str]]:
    text = (Path(__file__).parent / "metric_definitions.yaml").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = yaml.safe_load(text)
    return found


@cache
def formulas() -> dict[str, str]:
    from assay.loadgen.serving.objectives import FORMULAS

    return dict(FORMULAS)
