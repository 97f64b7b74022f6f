"""Seventy nights of eight entries, for pictures and for tests of the first screen: steps, a failure, a new kernel,
tags, and a session that runs."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from session_factory import MACHINE, START, MadeRun, later, made_record, make_session

from assay.history import History
from assay.record import Outcome, SessionFolder, SessionInfo

NIGHTS = 70
ENTRIES = {
    "alm_local": ("rows_per_s", 1_040.0, "1/s", "higher"),
    "alm_xenna": ("rows_per_s", 999.0, "1/s", "higher"),
    "common_crawl": ("pages_per_s", 312.0, "1/s", "higher"),
    "dedup_minhash": ("rows_per_s", 48_200.0, "1/s", "higher"),
    "finetune_tiny": ("tokens_per_s", 2_210.0, "1/s", "higher"),
    "removal_ray": ("rows_per_s", 15_400.0, "1/s", "higher"),
    "serving_chat": ("ttft_p95_s", 0.041, "s", "lower"),
    "weights_chain": ("ratio", 11.9, "×", "higher"),
}
TAGS = {
    "serving_chat": ("serving", "gpu"), "finetune_tiny": ("training", "gpu"), "weights_chain": ("storage",),
    "alm_local": ("curation",), "alm_xenna": ("curation",), "dedup_minhash": ("curation",),
}  # fmt: skip
FAILING = "removal_ray"


def demo_nights(results: Path, nights: int = NIGHTS) -> str:
    """The name of the last session."""
    rng = random.Random(8)
    name = ""
    with History.beside(results) as history:
        for night in range(nights):
            started = START + timedelta(days=night)
            name = f"nightly__{started:%Y-%m-%d__%H-%M-%S}"
            environment = later(replace(MACHINE, kernel="6.1.0" if night < 40 else "6.1.4"), f"{night + 16:02x}" * 20)
            runs = [_run(entry, night, nights, rng) for entry in ENTRIES]
            info = SessionInfo(
                name, started.isoformat(), status="finished", finished_at=(started + timedelta(hours=1)).isoformat(),
                planned=tuple(ENTRIES), reason="nightly", tags=("nightly",), entry_tags=TAGS,
            )  # fmt: skip
            if night >= nights - 3:
                folder = make_session(results, runs, name=name, started=started, environment=environment)
                folder.write_info(replace(folder.info(), tags=info.tags, entry_tags=TAGS))
                history.add_session(folder)
            else:
                records = [made_record(run, name, started + timedelta(minutes=at)) for at, run in enumerate(runs)]
                history.add_all([replace(one, git_commit=environment.git_commit) for one in records], info, environment)
    return name


def _run(entry: str, night: int, nights: int, rng: random.Random) -> MadeRun:
    metric, value, unit, better = ENTRIES[entry]
    moved = 1.0
    if entry == "alm_xenna" and night >= nights - 9:
        moved = 0.89
    if entry == "dedup_minhash" and night >= nights - 30:
        moved = 1.11
    if entry == FAILING and night >= nights - 2:
        reason = "exit 3: ids-to-remove: no such file"
        log = "reading data/ids\nTraceback (most recent call last):\nFileNotFoundError: ids-to-remove: no such file\n"
        return MadeRun(entry, outcome=Outcome.FAILED, exec_time_s=1.2, reasons=(reason,), log=log)
    now = value * moved * (1 + rng.gauss(0, 0.008))
    seconds = 90.0 * (1 / moved if better == "higher" else moved) * (1 + rng.gauss(0, 0.008))
    own = {metric: {"value": now, "unit": unit, "better": better}}
    return MadeRun(entry, own, exec_time_s=seconds, usage_series=entry != "weights_chain")


def demo_running(results: Path) -> SessionFolder:
    began = datetime.now(UTC) - timedelta(minutes=9, seconds=20)
    done = ["alm_local", "alm_xenna", "common_crawl", "dedup_minhash", "finetune_tiny"]
    runs = [_run(entry, 0, NIGHTS, random.Random(1)) for entry in done]
    name = f"nightly__{began:%Y-%m-%d__%H-%M-%S}"
    folder = make_session(results, runs, name=name, finished=False, planned=tuple(ENTRIES), started=began)
    info = folder.info()
    limits = dict.fromkeys(ENTRIES, 120.0)
    folder.write_info(
        replace(info, runs=dict.fromkeys(ENTRIES, 1), limits_s=limits, pid=os.getpid(), tags=("nightly",))
    )
    own = folder.path / "serving_chat"
    own.mkdir()
    lines = [f"request {n}: 128 tokens in {0.9 + n % 7 / 10:.2f} s, first after {38 + n % 9} ms" for n in range(40)]
    (own / "stdouterr.log").write_text("loading tiny-llama\nserving on 127.0.0.1\n" + "\n".join(lines) + "\n")
    usage = "".join(f"{t},{t * 1.8:.3f},{2100 + t:.2f}\n" for t in range(42))
    (own / "usage.csv").write_text("t_s,cpu_s,rss_mb\n" + usage)
    return folder
