"""`colocation.json` of version 2 as `assay colocate` writes it, made without running anything."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

STAGES = ("load", "preprocess", "model")
Effect = Mapping[tuple[str, str], float]
"""How many times slower the first is beside the second; 1 where it is not said."""


def made_matrix(
    names: Sequence[str], slower: Effect, *, rounds: int = 2, stages: Sequence[str] = STAGES, seed: int = 0
) -> dict[str, Any]:
    rng = random.Random(seed)
    groups = [*combinations(names, 2), *((name, f"{name} (copy)") for name in names)]
    runs = [made_run((name,), {}, number, stages, rng) for number in range(1, rounds + 1) for name in names]
    runs += [made_run(group, slower, number, stages, rng) for number in range(1, rounds + 1) for group in groups]
    cells: list[dict[str, Any]] = []
    contrasts = []
    for first, second in [pair for group in groups for pair in (group, group[::-1])]:
        if first.endswith("(copy)"):
            continue
        beside = second.removesuffix(" (copy)")
        effect = slower.get((first, beside), 1.0)
        for what in ("throughput", "p50", "p99"):
            cells.append(made_cell(first, beside, what, None, effect, rounds, rng))
        for stage in range(len(stages)):
            for what in ("mean", "p50", "p99"):
                cells.append(made_cell(first, beside, what, stage, effect if stage else 1.0, rounds, rng))
        contrasts.append(_contrast(first, beside, effect, rounds, stages, rng))
    return {**_head("matrix", names, stages), "runs": runs, "cells": cells, "contrasts": contrasts}


def made_together(names: Sequence[str], *, policy: str | None = None, stages: Sequence[str] = STAGES) -> dict[str, Any]:
    run = made_run(names, {}, 1, stages, random.Random(1))
    if policy:
        run["decisions"] = [
            {"t": 0.0, "pipeline": names[0], "action": "start", "value": None, "reason": "all start at once"},
            {"t": 2.5, "pipeline": names[1], "action": "pause", "value": None, "reason": "p99 of 61 ms is over 50 ms"},
            {"t": 4.0, "pipeline": names[1], "action": "resume", "value": None, "reason": "p99 of 31 ms for 1 s"},
            {"t": 6.0, "pipeline": names[0], "action": "place", "value": "cpus 0,1", "reason": "more processors"},
        ]
        second = run["pipelines"][1]
        second["lanes"] = [lane for lane in second["lanes"] if lane[2] <= 2.5 or lane[1] >= 4.0]
        run["decisions"] = [{**one, "refused": ""} for one in run["decisions"]]
    return {**_head("together", names, stages), "policy": policy, "runs": [run], "cells": [], "contrasts": []}


def made_rates(
    name: str, rates: Sequence[float], *, peak: float | None = None, searched: bool = True
) -> dict[str, Any]:
    rng = random.Random(2)
    runs, trials = [], []
    for number, rate in enumerate(rates, 1):
        run = made_run((name,), {}, 1, STAGES, rng)
        own = run["pipelines"][0]
        slow = 1 / max(0.02, 1 - rate / 450)
        run["label"] = f"trial-{number:02d}"
        own["asked_rate"], own["throughput"] = rate, min(rate * 0.9, 380.0)
        own["latency"] = {"count": 800, "mean_us": 3000 * slow, "p50_us": 2000 * slow, "p99_us": 9000 * slow}
        runs.append(run)
        valid = peak is not None and rate <= peak
        reasons = [] if valid else ["p99 of latency within 50 ms: 9 of 100 were over (9.00%, allowed 1.00%)"]
        trials.append(
            {"rate": rate, "valid": valid, "run": run["label"], "offered": rate * 0.9, "sent": rate * 0.9,
             "reasons": reasons}
        )  # fmt: skip
    found = {"rate": peak, "bounded": True} if searched else None
    return {
        **_head("rates", (name,), STAGES), "runs": runs, "cells": [], "contrasts": [],
        "rates": {"pipeline": name, "trials": trials, "peak": found},
    }  # fmt: skip


def made_run(
    members: Sequence[str], slower: Effect, number: int, stages: Sequence[str], rng: random.Random
) -> dict[str, Any]:
    spans = {name: (0.05 * i, 8.0 + 0.6 * i) for i, name in enumerate(members)}
    begin, end = max(a for a, _ in spans.values()), min(b for _, b in spans.values())
    bare = [name.removesuffix(" (copy)") for name in members]
    pipelines = []
    for i, name in enumerate(members):
        others = [other for j, other in enumerate(bare) if j != i]
        effect = math.prod(slower.get((bare[i], other), 1.0) for other in others)
        pipelines.append(_pipeline(name, effect, spans[name], (begin, end), stages, rng))
    return {
        "label": f"round-{number:02d}/{'+'.join(members)}", "round": number, "members": list(members),
        "alone": len(members) == 1,
        "overlap": {
            "begin_t": begin, "end_t": end, "seconds": end - begin,
            "share": {name: (end - begin) / (b - a) for name, (a, b) in spans.items()},
        },
        "warnings": [], "decisions": [], "pipelines": pipelines,
    }  # fmt: skip


def made_cell(
    pipeline: str, beside: str, what: str, stage: int | None, effect: float, rounds: int, rng: random.Random
) -> dict[str, Any]:
    estimate, half = effect * math.exp(rng.gauss(0, 0.02)), 0.05
    low, high = estimate * (1 - half), estimate * (1 + half)
    return {
        "pipeline": pipeline, "beside": [beside], "what": what, "stage": stage, "estimate": estimate,
        "low": low, "high": high, "confidence": 0.95,
        "slower": True if low > 1 else False if high < 1 else None,
        "seconds": 7.9, "rounds": rounds, "queries_alone": 800, "queries_beside": 700, "reason": "",
    }  # fmt: skip


def write_colocation(folder: Path, written: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "colocation.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    return path


def _head(kind: str, names: Sequence[str], stages: Sequence[str]) -> dict[str, Any]:
    return {
        "version": 2, "name": "two pipelines", "kind": kind, "policy": None, "rates": None,
        "pipelines": [
            {
                "name": name, "loop": "open" if i % 2 == 0 else "closed", "asked_rate": 100.0 if i % 2 == 0 else None,
                "until": "own" if i < 2 else "others_end",
                "objectives": [{"of": "latency", "percentile": 0.99, "seconds": 0.05}] if i == 0 else [],
                "stages": [{"id": id, "name": stage} for id, stage in enumerate(stages)],
            }
            for i, name in enumerate(names)
        ],
    }  # fmt: skip


def _pipeline(
    name: str, effect: float, span: tuple[float, float], window: tuple[float, float], stages: Sequence[str],
    rng: random.Random,
) -> dict[str, Any]:  # fmt: skip
    seconds, whole = window[1] - window[0], span[1] - span[0]
    rate = 100.0 / effect
    times = {"count": int(rate * whole), "mean_us": 9000 * effect, "p50_us": 8000 * effect, "p99_us": 30_000 * effect}
    points = [span[0] + whole * i / 40 for i in range(41)]
    return {
        "pipeline": name, "ending": {"how": "finished", "reason": ""}, "valid": True, "reasons": [],
        "asked_rate": 100.0, "achieved_rate": 100.0, "throughput": rate, "goodput": rate, "duration_s": whole,
        "sent": int(rate * whole), "completed": int(rate * whole), "failed": 0, "held_back": 0, "warnings": [],
        "process_cpu_s": 3.0, "process_peak_rss_mb": 80.0, "latency": times,
        "span": {"begin_t": span[0], "end_t": span[1]},
        "window": {
            "seconds": seconds, "throughput": rate, "completed": int(rate * seconds),
            "p50_us": times["p50_us"], "p99_us": times["p99_us"],
        },
        "stages": [
            _stage(id, stage, effect if id else 1.0, int(rate * seconds), rng) for id, stage in enumerate(stages)
        ],
        "series": {
            "t": points,
            "throughput": [rate * math.exp(rng.gauss(0, 0.05)) for _ in points],
            "p50_us": [8000 * effect * math.exp(rng.gauss(0, 0.05)) for _ in points],
            "p99_us": [30_000 * effect * math.exp(rng.gauss(0, 0.2)) for _ in points],
            "in_flight": [rng.randint(0, 4) for _ in points],
        },
        "lanes": [
            [id, span[0] + whole * (k + id / 5) / 30, span[0] + whole * (k + id / 5 + 0.3) / 30, 3, whole / 300 * id]
            for k in range(29)
            for id in range(len(stages))
        ],
    }  # fmt: skip


def _contrast(
    pipeline: str, beside: str, effect: float, rounds: int, stages: Sequence[str], rng: random.Random
) -> dict[str, Any]:
    window = {"begin_t": 0.0, "end_t": 7.9}
    queries = 700 * rounds

    def side(slower: float) -> dict[str, Any]:
        made = [_stage(id, name, slower if id else 1.0, queries, rng) for id, name in enumerate(stages)]
        return {
            "latency": {"count": queries, "mean_us": 9000 * slower, "p50_us": 8000 * slower, "p99_us": 30_000 * slower},
            "stages": [{name: value for name, value in one.items() if name != "window"} for one in made],
        }

    return {
        "pipeline": pipeline, "beside": [beside], "rounds": rounds, "paired": True, "reason": "",
        "windows": [{"alone": window, "together": window}] * rounds, "alone": side(1.0), "together": side(effect),
    }  # fmt: skip


def _stage(id: int, name: str, effect: float, calls: int, rng: random.Random) -> dict[str, Any]:
    middle = 1000.0 * (id + 1) * effect
    times = np.sort(np.exp(np.random.default_rng(rng.getrandbits(32)).normal(math.log(middle), 0.35, 300)))
    counts, edges = np.histogram(times, np.geomspace(times[0], times[-1], 41))
    figures = {"mean_us": float(times.mean()), "p50_us": float(times[149]), "p99_us": float(times[296])}
    return {
        "id": id, "name": name, "share": 0.3, "count": calls, **figures,
        "window": {"calls": calls, **figures}, "histogram": {"edges_us": edges.tolist(), "counts": counts.tolist()},
    }  # fmt: skip
