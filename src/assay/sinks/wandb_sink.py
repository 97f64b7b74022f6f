from __future__ import annotations

import hashlib
import math
import os
import shutil
import socket
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from assay.errors import MissingExtra
from assay.files.json_text import encode
from assay.record import Record
from assay.sinks.sink import Key, Sink, Unavailable

_MODES = ("online", "offline")
# W&B keeps a chart's points; a longer series is thinned out evenly, and is whole in the artifact.
_POINTS = 5000


class WandbSink(Sink):
    """A group for the session, a run for each run. A run's id is made from ours, so that one that is delivered again
    is the same run; offline, what a killed delivery left behind is taken away first."""

    summary = "Weights & Biases: a group for the session, a run for each run, online or offline"
    keys = (
        Key("project", "name of the project (default: assay)"),
        Key("entity", "the team or user (default: the account's own)"),
        Key("mode", "online or offline (default: online if there is an API key, otherwise offline)"),
        Key("api_key", "of the account (default: WANDB_API_KEY, or what `wandb login` stored)", secret=True),
        Key("base_url", "of a server of your own (default: WANDB_BASE_URL, or https://api.wandb.ai)"),
        Key("dir", "where runs are kept; a relative path is meant from the session's folder (default: that folder)"),
        Key("artifacts", "false: no files (default: true)"),
    )
    delivery_timeout_s = 180.0

    @classmethod
    def problems(cls, config: dict[str, Any]) -> list[str]:
        mode = config.get("mode")
        return [] if mode in (None, *_MODES) else [f"mode: {mode!r} is neither online nor offline"]

    def initialize(self, session_name: str, env_data: dict[str, Any]) -> None:
        os.environ["WANDB_SILENT"] = "true"
        if self.config.get("api_key"):
            os.environ["WANDB_API_KEY"] = str(self.config["api_key"])
        try:
            import wandb
        except ImportError:
            raise MissingExtra("W&B", "wandb") from None
        self._wandb = wandb
        self._mode: Any = self.config.get("mode") or ("online" if os.environ.get("WANDB_API_KEY") else "offline")
        self._dir = self.context.folder / self.config.get("dir", ".")
        self._dir.mkdir(parents=True, exist_ok=True)
        self._environment = {key: value for key, value in env_data.items() if key != "packages"}

    def process_result(self, result: dict[str, Any]) -> None:
        record = Record.from_json(result)
        run_id = hashlib.sha256(record.run_id.encode()).hexdigest()[:16]
        self._clear(run_id)
        if self._mode == "online":
            self._reach()
        run = self._wandb.init(
            project=str(self.config.get("project") or "assay"),
            entity=self.config.get("entity"),
            group=self.context.session_name[:128],
            name=(record.name if record.repeat == 1 else f"{record.name} run {record.repeat}")[:128],
            id=run_id,
            job_type="benchmark",
            tags=[str(record.outcome)],
            notes="; ".join(record.reasons)[:5000] or None,
            config={**record.script_params, "assay": {"run_id": record.run_id, "environment": self._environment}},
            mode=self._mode,
            resume="allow" if self._mode == "online" else None,
            reinit="create_new",
            settings=self._settings(),
        )
        try:
            self._log(run, record)
            if self.config.get("artifacts", True):
                self._attach(run, run_id, record, result)
        finally:
            run.finish(exit_code=0 if record.success else 1)
        if self._mode == "online":
            self.context.announce(f"W&B {record.name}", str(run.url))
        else:
            self.context.announce("W&B (offline; send with `wandb sync`)", str(self._dir / "wandb"))

    def _log(self, run: Any, record: Record) -> None:
        rows: dict[int, dict[str, float]] = {}
        for metric in record.metrics.values():
            stride = max(1, math.ceil(len(metric.samples) / _POINTS))
            for step in range(0, len(metric.samples), stride):
                rows.setdefault(step, {})[metric.name] = metric.samples[step]
        # A run that was begun before a kill has its first steps already.
        begun = int(run.starting_step)
        for step in sorted(rows):
            if step >= begun:
                # Without `commit` the last row waits for the end, and would then stand for the metric's own value.
                run.log(rows[step], step=step, commit=True)
        run.summary.update({name: metric.value for name, metric in record.metrics.items()})
        run.summary.update({"outcome": str(record.outcome), "success": record.success, "repeat": record.repeat})

    def _attach(self, run: Any, run_id: str, record: Record, result: dict[str, Any]) -> None:
        artifact = self._wandb.Artifact(f"result-{run_id}", type="result")
        with artifact.new_file("result.json") as out:
            out.write(encode(result, indent=2))
        named = [name for name in (record.stdouterr_file, *record.files.values()) if name]
        for path in [self.context.folder / name for name in named]:
            if path.is_file():
                artifact.add_file(str(path), name=path.name)
        run.log_artifact(artifact)

    def _reach(self) -> None:
        """The library waits minutes for a server that is not there; a connection tells at once."""
        address = urlsplit(self._base_url())
        if address.hostname is None or getproxies():
            return
        port = address.port or (443 if address.scheme == "https" else 80)
        try:
            socket.create_connection((address.hostname, port), timeout=10).close()
        except OSError as error:
            raise Unavailable(f"{address.hostname}:{port}: {error}") from None

    def _base_url(self) -> str:
        return str(self.config.get("base_url") or os.environ.get("WANDB_BASE_URL") or "https://api.wandb.ai")

    def _settings(self) -> Any:
        return self._wandb.Settings(
            root_dir=str(self._dir),
            base_url=self._base_url(),
            silent=True,
            console="off",
            # The session knows its machine and its code; measuring them again would only cost time beside a run.
            disable_git=True,
            save_code=False,
            x_disable_stats=True,
            x_disable_meta=True,
            init_timeout=60,
        )

    def _clear(self, run_id: str) -> None:
        """Takes away what this very run left when its delivery was cut short."""
        begun = f"making {run_id}"
        if begun in self.context.memory:
            for left in (self._dir / "wandb").glob(f"offline-run-*-{run_id}"):
                shutil.rmtree(left, ignore_errors=True)
        self.context.memory[begun] = True
