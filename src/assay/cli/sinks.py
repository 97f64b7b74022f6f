from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.cli.arguments import results_dir, results_dir_argument
from assay.errors import UsageError
from assay.names import unknown
from assay.sinks.delivery.delivery import Delivery, SinkStatus, statuses
from assay.sinks.delivery.outbox import Outbox
from assay.sinks.registry import is_named, locate


def arguments(parser: ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="what", metavar="what", required=True)
    kinds.add_parser("list", help="the sinks there are, their keys, and those that packages add")
    status = kinds.add_parser("status", help="what a session's sinks have been told, what is pending and why")
    flush = kinds.add_parser("flush", help="deliver what is pending")
    for sub in (status, flush):
        sub.add_argument("session", nargs="?", default="latest", help="name, folder, latest or latest~2")
        results_dir_argument(sub)
    flush.add_argument("--all", action="store_true", help="of every session in the results folder")
    flush.add_argument("--only", metavar="NAME", action="append", default=[], help="only this sink")
    flush.add_argument("--wait", metavar="SECONDS", type=float, default=60.0, help="how long to try (default: 60)")
    flush.add_argument("--retry-refused", action="store_true", help="also what a service has refused before")
    test = kinds.add_parser("test", help="send one marked test message and say what happened")
    test.add_argument("name", metavar="NAME", help="of the sink")
    test.add_argument("--config", metavar="FILE", action="append", default=[], help="session YAML that has the sink")
    test.add_argument("--key", metavar="KEY=VALUE", action="append", default=[], help="a key of the sink, without YAML")
    test.add_argument("--wait", metavar="SECONDS", type=float, default=60.0, help="how long to try (default: 60)")
    kinds.add_parser("dashboard", help="print the Grafana dashboard for these metrics, to be imported")


def run(args: Namespace) -> int:
    return {"list": _list, "status": _status, "flush": _flush, "test": _test, "dashboard": _dashboard}[args.what](args)


def _list(args: Namespace) -> int:
    from assay.sinks.registry import BUILT_IN, find_built_in_class, list_registered
    from assay.sinks.sink import SinkSpec

    for name in BUILT_IN:
        found = find_built_in_class(SinkSpec(name))
        assert found is not None
        print(f"{name}: {found.summary}")
        for key in found.keys:
            print(f"    {key.name}{' (required)' if key.required else ''}: {key.help}")
    for point in list_registered():
        print(f"{point.name}: {point.value}")
    return 0


def _status(args: Namespace) -> int:
    outbox = Outbox(_session(args))
    return _say(statuses(outbox, outbox.specs()))


def _flush(args: Namespace) -> int:
    folders = _pending(results_dir(args)) if args.all else [_session(args)]
    code = 0
    for folder in folders:
        if args.all:
            print(f"{folder.name}:")
        if args.retry_refused:
            Outbox(folder).take_up_refused(args.only)
        delivery = Delivery.reopen(folder, linger_s=args.wait, tries=10, only=args.only)
        code = max(code, _say(delivery.close(args.wait)))
    return code


def _test(args: Namespace) -> int:
    from assay.record import Environment, Fingerprint, Outcome, Record, SessionInfo
    from assay.sinks.registry import check_spec

    spec = _spec(args)
    problems = check_spec(spec)
    if problems:
        raise UsageError("\n".join(problems))
    now = datetime.now(UTC)
    name = f"assay-test-{now:%Y%m%d-%H%M%S}"
    info = SessionInfo(name=name, started_at=now.isoformat(), planned=("assay-sinks-test",), reason="assay sinks test")
    with TemporaryDirectory(prefix="assay-sinks-test-") as scratch:
        folder = Path(scratch) / name
        folder.mkdir()
        delivery = Delivery(folder, [spec], tries=4)
        delivery.session_started(info, Environment(host=os.uname().nodename, reason="assay sinks test"))
        delivery.run_started(f"{name}/assay-sinks-test/run-01", "assay-sinks-test")
        delivery.run_finished(
            Record(
                name="assay-sinks-test",
                session=name,
                run_id=f"{name}/assay-sinks-test/run-01",
                outcome=Outcome.PASSED,
                started_at=now.isoformat(),
                fingerprint=Fingerprint("assay-sinks-test", "", "", ""),
                script_params={"test": True},
                script_metrics={"is_success": True, "test_value": 42},
                reasons=("a test message, not a result",),
            )
        )
        delivery.session_finished(info, "a test message of `assay sinks test`, not a result")
        [status] = delivery.close(args.wait)
        print(f"A session named {name} with one entry was handed to {args.name}:")
        return _say([status], after_test=True)


def _dashboard(args: Namespace) -> int:
    from assay.sinks.monitoring.monitoring_sink import dashboard

    print(json.dumps(dashboard(), indent=1))
    return 0


def _say(found: list[SinkStatus], after_test: bool = False) -> int:
    from assay.report.quantity import printable

    for status in found:
        line = printable(str(status))
        print(line.partition("; `assay sinks flush`")[0] if after_test else line)
        for key, why in status.refused[1:]:
            print(printable(f"    refused: {key}: {why}"))
        for name, address in status.links:
            print(printable(f"    {name}: {address}"))
    return int(any(status.pending or status.refused for status in found))


def _session(args: Namespace) -> Path:
    from assay.history.find_session import find_session

    return find_session(args.session, results_dir(args)).path


def _pending(results: Path) -> list[Path]:
    folders = sorted(path.parent.parent for path in results.glob("*/outbox/sinks.json"))
    return [
        folder
        for folder in folders
        if any(status.pending for status in statuses(Outbox(folder), Outbox(folder).specs()))
    ]


def _spec(args: Namespace) -> dict[str, Any]:
    import yaml

    given = dict(pair.partition("=")[::2] for pair in args.key)
    own = {key: yaml.safe_load(value) if value else "" for key, value in given.items()}
    if not args.config:
        given_alone = {"name": args.name, **own, "enabled": True}
        return given_alone if is_named(given_alone) else dict(locate(given_alone, [Path.cwd()]))
    from assay.api.run_inputs import RunInputs

    config = tuple(str(Path(file).absolute()) for file in args.config)
    plan = RunInputs(config=config).plan()
    for spec in plan.sinks:
        if spec.get("name") == args.name:
            return {**spec, **own, "enabled": True}
    names = [str(spec.get("name")) for spec in plan.sinks]
    raise UsageError(unknown("enabled sink", args.name, names, of=args.config[0]))
