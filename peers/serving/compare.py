"""Assay beside guidellm and aiperf on one null server: CPU a request, start, highest rate, lateness.

    python -m peers.serving.compare --peers .peers/serving [--repeats 3]

A request is a streamed chat answer of 32 tokens, 16 in flight. CPU is that of all processes of a command, reading the
answers and writing the records included. What lies before the first request is left out, and what start and end cost
whatever the count is subtracted by a run with fewer requests. Every client has the same one core, the server the other.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from peers.serving.clients import RATE, TOKENS, AIPerf, Assay, BareLoop, Client, GuideLLM
from peers.serving.measured_command import Measured, adopt_orphans, measure

from assay.stages.pytorch.tiny_model import write_tiny_model

HERE = Path(__file__).parent
PORT = "PORT"
GAP_S = 0.002


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--peers", type=Path, required=True, help="environments FOLDER-guidellm and FOLDER-aiperf")
    words.add_argument("--repeats", type=int, default=3, help="of the two quick clients; the least counts")
    words.add_argument("--only", default="", help="names of clients, with commas between them")
    args = words.parse_args()
    adopt_orphans()
    scratch = Path(tempfile.mkdtemp(prefix="peers-serving-"))
    try:
        print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        wanted = args.only.split(",") if args.only else []
        chosen = [client for client in clients(scratch, args.peers.absolute()) if not wanted or client.name in wanted]
        rounds = range(args.repeats)
        # In turn: what else the machine does falls on all of them.
        trials: dict[str, list[dict[str, float]]] = {client.name: [] for client in chosen}
        for number in rounds:
            for client in chosen:
                if number == 0 or isinstance(client, Assay | BareLoop):
                    trials[client.name].append(tried(client, scratch / client.name / str(number)))
        costs = {client.name: cost_of(client, trials[client.name], scratch / client.name) for client in chosen}
        return 0 if judge(costs) else 1
    finally:
        shutil.rmtree(scratch)


def clients(scratch: Path, peers: Path) -> list[Client]:
    program = scratch / "bare_loop"
    subprocess.run(["gcc", "-O2", "-o", str(program), str(HERE / "bare_loop.c")], check=True)
    home = scratch / "hub"
    cache = home / "hub" / "models--x--tiny"
    tokenizer = cache / "snapshots" / ("0" * 40)
    write_tiny_model(tokenizer)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("0" * 40)
    assay = str(Path(sys.executable).parent / "assay")
    return [
        BareLoop("bare C loop", 200, 40_200, 2_200, program=str(program)),
        Assay("assay", 200, 40_200, 2_200, program=assay),
        AIPerf("aiperf", 100, 2_100, 1_100, program=f"{peers}-aiperf/bin/aiperf", home=str(home)),
        GuideLLM("guidellm", 100, 2_100, 1_100, program=f"{peers}-guidellm/bin/guidellm", tokenizer=str(tokenizer)),
    ]


def tried(client: Client, out: Path) -> dict[str, float]:
    """One trial: seconds of CPU a request, seconds to the first request, requests a second."""
    few, many = (run(client, count, 0.0, out / f"{count}") for count in (client.few, client.many))
    some, more = (run(client, count, GAP_S, out / f"{count}-spaced") for count in (client.few, client.spaced))
    at_once = (many.cpu_s - few.cpu_s) / (client.many - client.few)
    spaced = (more.cpu_s - some.cpu_s) / (client.spaced - client.few)
    first = min(one.first_request_s for one in (few, many, some, more))
    return {"at once": at_once, "spaced": spaced, "first": first, "rate": many.rate}


def cost_of(client: Client, trials: list[dict[str, float]], out: Path) -> dict[str, float]:
    """The best of the trials, and lateness."""
    cost = {name: (max if name == "rate" else min)(trial[name] for trial in trials) for name in trials[0]}
    if (command := client.poisson(f"http://127.0.0.1:{PORT}", 5 * RATE, out / "poisson")) is not None:
        measure(command, PORT, TOKENS, 0.0, client.environment(), out / "poisson")
        late = client.late_s(out / "poisson")
        p50, p99 = late if isinstance(late, tuple) else np.quantile(late, [0.5, 0.99])
        cost |= {"late p50": float(p50), "late p99": float(p99)}
    print(f"{client.name:12}", say(cost), flush=True)
    return cost


def run(client: Client, count: int, gap_s: float, out: Path) -> Measured:
    command = client.closed(f"http://127.0.0.1:{PORT}", count, out)
    measured = measure(command, PORT, TOKENS, gap_s, client.environment(), out)
    print(
        f"  {out.parent.name} {out.name}: {count} requests, {measured.cpu_s:.2f} s of CPU after the first", flush=True
    )
    return measured


def say(cost: dict[str, float]) -> str:
    said = (
        f"CPU a request {cost['at once'] * 1e6:9,.1f} µs at once, {cost['spaced'] * 1e6:9,.1f} µs 2 ms apart; "
        f"first request after {cost['first']:6.2f} s; {cost['rate']:9,.0f} requests/s on one core"
    )
    if "late p50" in cost:
        said += f"; at {RATE}/s late {cost['late p50'] * 1e6:9,.0f} µs p50, {cost['late p99'] * 1e6:9,.0f} µs p99"
    return said


def judge(costs: dict[str, dict[str, float]]) -> bool:
    ours, bare = costs.get("assay"), costs.get("bare C loop")
    held = []
    if ours is None:
        return True
    for name in ("aiperf", "guidellm"):
        if name in costs:
            for what, least in (("at once", 100), ("spaced", 20)):
                ratio = costs[name][what] / ours[what]
                held.append(
                    (ratio >= least, f"{name} needs {ratio:,.0f} times our CPU a request {what} (asked: {least})")
                )
    if bare is not None:
        ratio = ours["spaced"] / bare["spaced"]
        held.append((ratio <= 1.5, f"{ratio:.2f} times the bare C loop with tokens 2 ms apart (asked: at most 1.5)"))
    held.append((ours["first"] <= 1.0, f"first request after {ours['first']:.2f} s (asked: at most 1)"))
    for good, sentence in held:
        print("holds " if good else "MISSED", sentence)
    return all(good for good, _ in held)


if __name__ == "__main__":
    sys.exit(main())
