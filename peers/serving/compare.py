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
from peers.serving.measured_command import CommandFailed, Measured, adopt_orphans, measure

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
    failed: dict[str, str] = {}
    try:
        print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        wanted = args.only.split(",") if args.only else []
        chosen = [client for client in clients(scratch, args.peers.absolute()) if not wanted or client.name in wanted]
        # In turn: what else the machine does falls on all of them.
        trials: dict[str, list[dict[str, float]]] = {client.name: [] for client in chosen}
        for number in range(args.repeats):
            for client in chosen:
                if client.name in failed or (number and not isinstance(client, Assay | BareLoop)):
                    continue
                try:
                    trials[client.name].append(tried(client, scratch / client.name / str(number)))
                except (CommandFailed, OSError) as error:
                    failed[client.name] = str(error)
                    print(f"  {client.name} FAILED: {error}", flush=True)
        costs = {}
        for client in chosen:
            if client.name not in failed:
                costs[client.name] = cost_of(client, trials[client.name], scratch / client.name, failed)
    finally:
        if not failed:
            shutil.rmtree(scratch)
    show(costs)
    return 0 if judge(costs, failed) else 1


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
        BareLoop("bare C loop", 200, 40_200, 4_200, program=str(program)),
        Assay("assay", 200, 40_200, 4_200, program=assay),
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


def cost_of(client: Client, trials: list[dict[str, float]], out: Path, failed: dict[str, str]) -> dict[str, float]:
    """The best of the trials, and lateness; one that cannot be had leaves a word in `failed`."""
    cost = {name: (max if name == "rate" else min)(trial[name] for trial in trials) for name in trials[0]}
    if (command := client.poisson(f"http://127.0.0.1:{PORT}", 5 * RATE, out / "poisson")) is not None:
        try:
            measure(command, PORT, TOKENS, 0.0, client.environment(), out / "poisson")
            late = client.late_s(out / "poisson")
        except (CommandFailed, OSError, LookupError, StopIteration, ValueError) as error:
            failed[f"{client.name}, lateness"] = str(error) or type(error).__name__
            return cost
        p50, p99 = late if isinstance(late, tuple) else np.quantile(late, [0.5, 0.99])
        cost |= {"late p50": float(p50), "late p99": float(p99)}
    return cost


def run(client: Client, count: int, gap_s: float, out: Path) -> Measured:
    command = client.closed(f"http://127.0.0.1:{PORT}", count, out)
    measured = measure(command, PORT, TOKENS, gap_s, client.environment(), out)
    print(
        f"  {client.name} {out.parent.name} {out.name}: {count} requests, {measured.cpu_s:.2f} s CPU after the first",
        flush=True,
    )
    return measured


def show(costs: dict[str, dict[str, float]]) -> None:
    """One line a client; times are microseconds unless a name says otherwise."""
    columns = {
        "CPU, at once": ("at once", 1e6),
        "CPU, 2 ms apart": ("spaced", 1e6),
        "first request, s": ("first", 1.0),
        "requests/s, 1 core": ("rate", 1.0),
        f"late p50 at {RATE}/s": ("late p50", 1e6),
        f"late p99 at {RATE}/s": ("late p99", 1e6),
    }
    print(f"\n{'µs a request':12}" + "".join(f"{name:>20}" for name in columns))
    for name, cost in costs.items():
        cells = [f"{cost[key] * scale:,.2f}" if key in cost else "–" for key, scale in columns.values()]
        print(f"{name:12}" + "".join(f"{cell:>20}" for cell in cells))
    print()


def judge(costs: dict[str, dict[str, float]], failed: dict[str, str]) -> bool:
    ours, bare = costs.get("assay"), costs.get("bare C loop")
    held = [(False, f"{name} has no figure: {why}") for name, why in failed.items()]
    if ours is not None:
        for name in ("aiperf", "guidellm"):
            for what, least in (("at once", 100), ("spaced", 20)) if name in costs else ():
                ratio = costs[name][what] / ours[what]
                said = f"{name} needs {ratio:,.0f} times our CPU a request {what} (asked: {least})"
                held.append((ratio >= least, said))
        if bare is not None:
            ratio = ours["spaced"] / bare["spaced"]
            held.append((ratio <= 1.5, f"{ratio:.2f} times the bare C loop, tokens 2 ms apart (asked: at most 1.5)"))
        held.append((ours["first"] <= 1.0, f"first request after {ours['first']:.2f} s (asked: at most 1)"))
    for good, sentence in held:
        print("holds " if good else "MISSED", sentence)
    return all(good for good, _ in held)


if __name__ == "__main__":
    sys.exit(main())
