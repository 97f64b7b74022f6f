"""How each client is started for the same load, and where it says how late it sent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

IN_FLIGHT = 16
TOKENS = 32
RATE = 200


@dataclass(frozen=True)
class Client:
    """A load generator: commands for a closed loop of `count` requests and for Poisson arrivals."""

    name: str
    few: int
    """Requests of the run that is subtracted."""
    many: int
    spaced: int
    """Requests with tokens 2 ms apart; `few` are subtracted here too."""

    def closed(self, url: str, count: int, out: Path) -> list[str]:
        raise NotImplementedError

    def poisson(self, url: str, count: int, out: Path) -> list[str] | None:
        return None

    def environment(self) -> dict[str, str]:
        return {}

    def late_s(self, out: Path) -> NDArray[np.float64] | tuple[float, float]:
        """Send after intended time, in seconds: one a request, or p50 and p99."""
        raise NotImplementedError


@dataclass(frozen=True)
class Assay(Client):
    program: str = "assay"

    def closed(self, url: str, count: int, out: Path) -> list[str]:
        return [*self._load(url, count, out), f"--concurrency={IN_FLIGHT}"]

    def poisson(self, url: str, count: int, out: Path) -> list[str]:
        return [*self._load(url, count, out), f"--rate={RATE}"]

    def _load(self, url: str, count: int, out: Path) -> list[str]:
        words = ["--model=null", "--prompt-tokens=16", f"--max-tokens={TOKENS}", f"--requests={count}", "--no-ceiling"]
        return [self.program, "load", url, *words, "--warmup=0", f"--results-dir={out}"]

    def late_s(self, out: Path) -> tuple[float, float]:
        metrics = json.loads(next(out.rglob("metrics.json")).read_text())
        return metrics["lateness_s_p50"], metrics["lateness_s_p99"]


@dataclass(frozen=True)
class BareLoop(Client):
    program: str = ""

    def closed(self, url: str, count: int, out: Path) -> list[str]:
        return [self.program, url.rpartition(":")[2], str(count), str(IN_FLIGHT)]


@dataclass(frozen=True)
class GuideLLM(Client):
    program: str = ""
    tokenizer: str = ""

    def closed(self, url: str, count: int, out: Path) -> list[str]:
        return self._run(url, count, out, f"kind=concurrent,streams={IN_FLIGHT}")

    def poisson(self, url: str, count: int, out: Path) -> list[str]:
        return self._run(url, count, out, f"kind=poisson,rate={RATE}")

    def _run(self, url: str, count: int, out: Path, profile: str) -> list[str]:
        data = f"kind=synthetic_text,prompt_tokens=16,output_tokens={TOKENS}"
        where = ["--backend", f"kind=openai_http,target={url}", "--tokenizer", f"kind=hf_auto,model={self.tokenizer}"]
        until = ["--constraint", f"kind=max_requests,count={count}"]
        return [self.program, "run", *where, "--profile", profile, *until, "--data", data]

    def environment(self) -> dict[str, str]:
        return {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

    def late_s(self, out: Path) -> NDArray[np.float64]:
        requests = json.loads((out / "benchmarks.json").read_text())["benchmarks"][0]["requests"]["successful"]
        timings = [request["info"]["timings"] for request in requests]
        return np.array([timing["request_start"] - timing["targeted_start"] for timing in timings])


@dataclass(frozen=True)
class AIPerf(Client):
    program: str = ""
    home: str = ""
    """A hub cache that has a tokenizer named x/tiny."""

    def closed(self, url: str, count: int, out: Path) -> list[str]:
        return [*self._profile(url, count), "--concurrency", str(IN_FLIGHT)]

    def poisson(self, url: str, count: int, out: Path) -> list[str]:
        return [*self._profile(url, count), "--request-rate", str(RATE)]

    def _profile(self, url: str, count: int) -> list[str]:
        asked = ["--synthetic-input-tokens-mean", "16", "--output-tokens-mean", str(TOKENS), "--ui", "none"]
        what = ["--model", "x/tiny", "--url", url, "--endpoint-type", "chat", "--streaming"]
        return [self.program, "profile", *what, "--request-count", str(count), *asked]

    def environment(self) -> dict[str, str]:
        return {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HOME": self.home}

    def late_s(self, out: Path) -> NDArray[np.float64]:
        """Seconds from when its scheduler let a request go to its start: it does not say for when the request was
        meant."""
        lines = next(out.rglob("profile_export.jsonl")).read_text().splitlines()
        rows = [json.loads(line)["metadata"] for line in lines]
        return np.array([(row["request_start_ns"] - row["credit_issued_ns"]) / 1e9 for row in rows])
