from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.arguments import results_dir, results_dir_argument
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.analysis import Comparison

FORMATS = ("text", "markdown", "json", "html")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "base", nargs="?", default="latest~1", metavar="BASE",
        help="a session, any results folder, `latest~1` or git revision (default: latest~1)",
    )  # fmt: skip
    parser.add_argument("head", nargs="?", default="latest", metavar="HEAD", help="the same (default: latest)")
    parser.add_argument(
        "others", nargs="*", default=[], metavar="OTHER",
        help="more of them: all are held against BASE, and of each metric the best stands first",
    )  # fmt: skip
    output_arguments(parser)
    parser.add_argument("--anyway", action="store_true", help="even where parameters, program or machine differ")
    results_dir_argument(parser)
    missing_base_argument(parser, "BASE is not there or not comparable")
    parser.epilog = (
        "exit code 1 if a run of either side failed; 3 if something regressed; with --strict, 4 if that "
        "is inconclusive or nothing could be compared; otherwise 0"
    )


def output_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--margin", action="append", default=[], metavar="[[ENTRY:]METRIC=]SHARE",
        help="smaller changes count as none: 5%%, METRIC=5%% or ENTRY:METRIC=5%% (default: 3%%, or the noise floor)",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, default=None, help="default: text, or by the name of --output")
    parser.add_argument("--output", type=Path, metavar="FILE", help="instead of standard output")
    parser.add_argument("--all", action="store_true", help="what is equivalent too")
    parser.add_argument(
        "--strict", action="store_true", help="exit code 4 if it is inconclusive or nothing could be compared"
    )


def missing_base_argument(parser: ArgumentParser, when: str) -> None:
    parser.add_argument("--allow-missing-base", action="store_true", help=f"a first run: exit code 0 where {when}")


def run(args: Namespace) -> int:
    from assay.api.compare import compare

    if args.others:
        return _run_many(args)
    comparison = compare(
        args.base, args.head, margin=args.margin, anyway=args.anyway, results_dir=results_dir(args),
        allow_missing_base=args.allow_missing_base,
    )  # fmt: skip
    write(comparison, args)
    return comparison.exit_code(strict=args.strict)


def _run_many(args: Namespace) -> int:
    from assay.api.compare import compare_many

    ranked = compare_many(
        [args.base, args.head, *args.others], margin=args.margin, anyway=args.anyway, results_dir=results_dir(args),
        allow_missing_base=args.allow_missing_base,
    )  # fmt: skip
    form = _form(args)
    if form == "html":
        raise UsageError("--format html is of two sides; for more, `assay serve` shows them (or --format json)")
    if form == "json":
        from assay.files.json_text import encode

        text = encode(ranked.to_json(strict=args.strict), indent=2) + "\n"
    else:
        from assay.report.text.ranking import ranking_markdown, ranking_text

        text = ranking_markdown(ranked) if form == "markdown" else ranking_text(ranked, everything=args.all)
    _put(text, args, ranked.answer)
    _warn(ranked.warning)
    return ranked.exit_code(strict=args.strict)


def write(comparison: Comparison, args: Namespace) -> None:
    _put(_render(comparison, args), args, f"{comparison.answer}: {comparison.reason}")
    _warn(comparison.warning)


def _warn(why: str) -> None:
    """Exit code 0 alone would pass for "nothing regressed"."""
    if why:
        from assay.report.quantity import printable

        print(printable(f"warning: not a pass: {why}"), file=sys.stderr)


def _put(text: str, args: Namespace, answer: str) -> None:
    if args.output is None:
        sys.stdout.write(text)
        return
    from assay.files.writing import write_atomic
    from assay.report.quantity import printable

    args.output.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(args.output, text)
    print(printable(answer), file=sys.stderr)


def _form(args: Namespace) -> str:
    suffix = args.output.suffix if args.output else ""
    by_name = {".md": "markdown", ".json": "json", ".html": "html", ".htm": "html"}.get(suffix, "text")
    return str(args.format or by_name)


def _render(comparison: Comparison, args: Namespace) -> str:
    form = _form(args)
    if form == "json":
        from assay.files.json_text import encode

        return encode(comparison.to_json(strict=args.strict), indent=2) + "\n"
    if form == "html":
        from assay.report.session_page import comparison_page

        return comparison_page(comparison)
    from assay.report.text.comparison import comparison_markdown, comparison_text

    if form == "markdown":
        return comparison_markdown(comparison, everything=args.all)
    from assay.report.text.screen import has_colour

    return comparison_text(comparison, everything=args.all, colour=args.output is None and has_colour(sys.stdout))
