"""`make fuzz MINUTES=…`: every target under libFuzzer and the sanitizers for so many CPU-minutes, then the oracle.

What is found is written to tests/native/fuzz/found/TARGET/ as text, and fails the tests until it is mended.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from tests.native.fuzz import targets
from tests.native.fuzz.mutants import mutants
from tests.native.fuzz.sanitized import fuzzer
from tests.native.fuzz.target import Target, save

from assay.names import unknown
from assay.native.library import kernel

SHARE_OF_ORACLE = 0.25
"""Share of the fuzzer's time that the comparison with plain Python gets on top of it."""
SLICE_S = 120
"""Seconds after which the fuzzer says how far it is and goes on with what it has learnt."""
INTERRUPTED = 72
"""The exit code of libFuzzer when it is told to stop."""
_RAN = re.compile(r"stat::number_of_executed_units:\s*(\d+)")
_SEEN = re.compile(r"cov: (\d+) ft: (\d+) corp: (\d+)")


@dataclass
class Tally:
    executed: int = 0
    cpu_s: float = 0.0
    coverage: str = "-"
    compared: int = 0
    compared_cpu_s: float = 0.0
    findings: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        return (
            f"{name:8} {self.executed:>14,} inputs under the sanitizers in {self.cpu_s / 60:5.1f} CPU-minutes "
            f"({self.coverage}); {self.compared:>9,} compared with plain Python in {self.compared_cpu_s / 60:4.1f}; "
            f"{len(self.findings)} findings"
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1, help="CPU-minutes a target")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"), help="where inputs are kept between runs")
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(targets.NAMES)}; all, if none is named")
    args = parser.parse_args()
    for name in args.targets:
        if name not in targets.NAMES:
            parser.error(unknown("target", name, targets.NAMES))
    print(f"the library that is compared: {kernel()}", flush=True)
    tallies = {}
    for name in args.targets or targets.NAMES:
        folder = args.folder.absolute() / name
        tallies[name] = fuzz(targets.load(name), folder, 60 * args.minutes)
        print(tallies[name].line(name), flush=True)
        for finding in tallies[name].findings:
            print(f"  {finding}", flush=True)
    print("\n".join(tally.line(name) for name, tally in tallies.items()))
    return 1 if any(tally.findings for tally in tallies.values()) else 0


def fuzz(target: Target, folder: Path, seconds: float) -> Tally:
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(chain(target.seeds(), (data for _, data in target.replayed()))):
        (corpus / f"seed-{number}").write_bytes(seed)
    tally = Tally()
    _search(target, folder, corpus, seconds, tally)
    _compare(target, corpus, SHARE_OF_ORACLE * seconds, tally)
    return tally


def _search(target: Target, folder: Path, corpus: Path, seconds: float, tally: Tally) -> None:
    """Until so much processor time is used: what other programs take of it does not count."""
    program = fuzzer(target, folder)
    dictionary = folder / "words.dict"
    dictionary.write_text("".join(f'"{_quoted(word)}"\n' for word in target.words), encoding="ascii")
    artifacts = folder / "artifacts"
    artifacts.mkdir(exist_ok=True)
    words = [str(program), str(corpus), f"-dict={dictionary}", f"-max_len={target.longest}", "-timeout=20"]
    words += ["-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={artifacts}/"]
    before = _children_s()
    while (left := seconds - tally.cpu_s) > 1 and not tally.findings:
        limit = f"-max_total_time={int(min(left, SLICE_S)) + 1}"
        done = subprocess.run([*words, limit], capture_output=True, text=True, check=False)
        tally.cpu_s = _children_s() - before
        tally.executed += sum(map(int, _RAN.findall(done.stderr)))
        if seen := _SEEN.findall(done.stderr):
            tally.coverage = f"{int(seen[-1][0]):,} edges, {int(seen[-1][2]):,} inputs kept"
        print(tally.line(target.name), flush=True)
        if done.returncode == INTERRUPTED:
            return
        if done.returncode:
            tally.findings.append(_finding(target, artifacts, done.stderr))


def _finding(target: Target, artifacts: Path, output: str) -> str:
    made = max(artifacts.iterdir(), key=lambda path: path.stat().st_mtime, default=None)
    told = re.findall(r"(?:SUMMARY|ERROR): .*|.*runtime error: .*|\S+\.c:\d+: .*", output)
    why = told[0] if told else output[-500:]
    if made is None:
        return f"the fuzzer ended and left no input: {why}"
    return f"{save(target.found, made.read_bytes())}: {why}"


def _compare(target: Target, corpus: Path, seconds: float, tally: Tally) -> None:
    known = [path.read_bytes() for path in sorted(corpus.iterdir())]
    seed = random.SystemRandom().getrandbits(32)
    print(f"{target.name}: mutants from seed {seed}", flush=True)
    rng = random.Random(seed)
    rng.shuffle(known)
    words = [_quoted(word).encode().decode("unicode_escape").encode("latin-1") for word in target.words]
    begun = time.process_time()
    for data in chain(known, mutants(known, words, rng)):
        tally.compared_cpu_s = time.process_time() - begun
        if tally.compared_cpu_s > seconds or len(tally.findings) >= 10:
            break
        told = target.difference(data)
        tally.compared += 1
        if told:
            tally.findings.append(f"{save(target.found, data)}: {told[:2000]}")


def _quoted(word: str) -> str:
    """A word as libFuzzer's dictionaries have it."""
    return "".join(c if c.isprintable() and c.isascii() and c not in '"\\' else f"\\x{ord(c):02x}" for c in word)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
