from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.history import History
from assay.record import Record, SessionFolder
from assay.record.atomic_file import write_atomic
from assay.report.printable import printable
from assay.report.quantity import duration, number, quantity
from assay.report.run_folder import RunFolder
from assay.report.view import SessionView

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


def write_report(folder: SessionFolder, *, history: History | None = None, to: Path | None = None) -> Path:
    """One file that needs nothing else: styles inside, no request to anywhere, everything escaped."""
    path = to or folder.report
    write_atomic(path, render_report(folder, history=history))
    return path


def render_report(folder: SessionFolder, *, history: History | None = None) -> str:
    view = SessionView.of(folder)
    tails = {entry.name: _tail(folder, entry.shown) for entry in view.ended}
    return templates().get_template("session.html").render(view=view, tails=tails)


def _tail(folder: SessionFolder, run: Record | None) -> str:
    return "" if run is None else printable(RunFolder(folder, run).log_tail(), keep_lines=True)


def templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters.update(quantity=quantity, number=number, duration=duration, shown=printable)
    made.globals["style"] = lambda: (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return made
