from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from assay.cli.arguments import results_dir, results_dir_argument
from assay.errors import AssayError, UsageError
from assay.names import quote, unknown


def arguments(parser: ArgumentParser) -> None:
    results_dir_argument(parser)
    parser.set_defaults(action=_list, entry=None, metric=None)
    actions = parser.add_subparsers(metavar="action")

    listed = actions.add_parser("list", help="the series there are (the default)", allow_abbrev=False)
    listed.add_argument("--entry", metavar="NAME", help="only series of this entry")
    listed.add_argument("--metric", metavar="NAME", help="only series of this metric")
    listed.set_defaults(action=_list)

    shown = actions.add_parser("show", help="one series: its trend and change points", allow_abbrev=False)
    shown.add_argument("entry", help="name of the entry")
    shown.add_argument("metric", nargs="?", default="exec_time_s", help="name of the metric (default: exec_time_s)")
    shown.add_argument("--last", type=int, default=120, metavar="N", help="how many values (default: 120)")
    shown.set_defaults(action=_show)

    imported = actions.add_parser("import", help="read session folders, or files of other tools", allow_abbrev=False)
    imported.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH",
        help="session folders, folders of them, JSON of pyperf, pytest-benchmark, hyperfine, guidellm, aiperf or "
        "vllm bench serve (default: all sessions)",
    )  # fmt: skip
    imported.add_argument("--rebuild", action="store_true", help="forget the database first")
    imported.set_defaults(action=_import)

    exported = actions.add_parser("export", help="every value as CSV or Parquet", allow_abbrev=False)
    exported.add_argument("output", type=Path, metavar="FILE", help="*.csv, *.parquet, or - for CSV on standard output")
    exported.set_defaults(action=_export)


def run(args: Namespace) -> int:
    return int(args.action(args))


def _list(args: Namespace) -> int:
    from assay.history import History
    from assay.report.text.series import series_table

    with History.beside(results_dir(args), read_only=True) as history:
        print(series_table(history.series(entry=args.entry, metric=args.metric)), end="")
    return 0


def _show(args: Namespace) -> int:
    from assay.history import History
    from assay.report.text.series import trend

    with History.beside(results_dir(args), read_only=True) as history:
        found = history.series(entry=args.entry, metric=args.metric)
        if not found:
            known = sorted({series.metric for series in history.series(entry=args.entry)})
            entries = sorted({series.entry for series in history.series()})
            raise UsageError(
                unknown("metric", args.metric, known, of=quote(args.entry))
                if known
                else unknown("entry", args.entry, entries, of="the history")
            )
        for series in found:
            mark, points = history.fingerprint(series.fingerprint), history.points(series.id, limit=args.last)
            print(trend(series, mark, points, accepted=history.accepted(series.fingerprint)))
    return 0


def _import(args: Namespace) -> int:
    from assay.history import History
    from assay.history.rows import Import

    folder = results_dir(args)
    if args.rebuild:
        History.start_anew(folder)
    refused = 0
    with History.beside(folder) as history:
        for one in Import(folder).sources(args.paths):
            try:
                added = history.add_session(one.folder())
                print(f"{added.session}: {added.new} new, {added.known} known")
            except AssayError as error:
                print(f"assay: {error}", file=sys.stderr)
                refused += 1
    if refused:
        print(f"assay: {refused} could not be read; the rest was", file=sys.stderr)
    return 2 if refused else 0


def _export(args: Namespace) -> int:
    from assay.history import History
    from assay.history.export_runs import export_csv, export_parquet

    with History.beside(results_dir(args), read_only=True) as history:
        if str(args.output) == "-":
            export_csv(history, sys.stdout)
            return 0
        if args.output.suffix not in (".csv", ".parquet"):
            raise UsageError(f"{args.output}: the name must end in .csv or .parquet")
        try:
            if args.output.suffix == ".csv":
                with args.output.open("w", newline="", encoding="utf-8") as out:
                    count = export_csv(history, out)
            else:
                count = export_parquet(history, args.output)
        except OSError as error:
            raise UsageError(f"{args.output}: {error.strerror or error}") from None
    print(f"{args.output}: {count} values")
    return 0
