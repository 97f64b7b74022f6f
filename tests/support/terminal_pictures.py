"""Pictures of terminals for the docs, from made records: what `assay run` prints, as a terminal shows it."""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from made_commands import made_command_session, made_runs, made_times
from nightly import HOSTILE, nightly_runs
from playwright.sync_api import Browser
from session_factory import MACHINE, START, make_session
from small_terminal import SmallTerminal

from assay.api.console import Console
from assay.api.live_view import LiveView
from assay.record import Outcome, SessionFolder, SessionInfo
from assay.record.secrets import Masker
from assay.report.text.commands import command_summary
from assay.report.text.screen import Screen
from assay.report.text.session import session_summary
from assay.session.events import RunFinished, RunSampled, RunStarted, SessionStarted

_COLOURS = {"": "#d8dee9", "1": "#ffffff", "2": "#8b95a7", "31": "#ff7b72", "32": "#7ee787"}
_PAGE = (
    "<body style='margin:0;background:#10141c'><pre style='display:inline-block;margin:0;padding:16px 20px;"
    'font:14px/1.45 "DejaVu Sans Mono",monospace\'>{}</pre></body>'
)
SCREEN = Screen(colour=True, width=96)


def take_terminal_pictures(browser: Browser, images: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _take(browser, images / "run-one.png", "assay run -- ./parse big.json", _one())
        _take(browser, images / "run-several.png", "assay run -- ./parse-a big.json -- ./parse-b big.json", _several())
        _take(browser, images / "session-live.png", "assay run --config nightly.yaml", _live())
        for width in (80, 160):
            _take(browser, images / f"session-end-{width}.png", None, _end(width))


def _one() -> SmallTerminal:
    times = made_times(0.4126, 0.004, count=20)
    times[6] = 0.452
    records = made_runs("parse", "./parse big.json", times, busy=7)
    changes = ("vs last time (2 h ago, 3f2a91c): no change (−0.8% … +1.1%)",)
    return _shown(command_summary(made_command_session(Path("one"), records), changes=changes, screen=SCREEN))


def _several() -> SmallTerminal:
    records = [
        *made_runs("parse-a", "./parse-a big.json", made_times(0.4126, 0.005, count=20)),
        *made_runs("parse-b", "./parse-b big.json", made_times(0.2319, 0.002, count=20, seed=2)),
    ]
    return _shown(command_summary(made_command_session(Path("several"), records), screen=SCREEN))


def _live() -> SmallTerminal:
    terminal = _Coloured(SCREEN.width or 80)
    folder = SessionFolder(Path("live"))
    folder.path.mkdir()
    info = SessionInfo(name="nightly__2026-03-01__02-00-00", started_at=START.isoformat())
    with Console(Path("live.log"), Masker({}), stream=terminal) as console:
        now = [0.0]
        view = LiveView(console, clock=lambda: now[0])
        planned = dict.fromkeys(("alm_local", "removal_ray", "serving", "dedup"), 6)
        view(SessionStarted(folder, info, MACHINE, 24, (), planned))
        failed = ("exited with code 3: ids-to-remove: no such file",)
        for name, mean in (("alm_local", 0.0903), ("removal_ray", 0.02), ("serving", 61.0), ("dedup", 12.4)):
            for at, seconds in enumerate(made_times(mean, mean / 80, count=6)):
                if name in ("serving", "dedup") and at == 4:
                    break
                view(RunStarted(name, name, name, name, 120.0, Path()))
                now[0] += seconds
                outcome, reasons = (Outcome.FAILED, failed) if name == "removal_ray" else (Outcome.PASSED, ())
                view(RunFinished(made_runs(name, name, [seconds], outcome=outcome, reasons=reasons)[0]))
        view(RunStarted("serving", "serving", "serving", "serving", 120.0, Path()))
        view(RunSampled("serving", 41.0, 74.0, 2100.0))
    return terminal


def _end(width: int) -> SmallTerminal:
    runs = [run for run in nightly_runs() if run.entry != HOSTILE]
    here = Path(f"{width}-columns")
    here.mkdir()
    os.chdir(here)
    folder = make_session(Path("results"), runs)
    changes = ("regressed: alm rows_per_s 1,136 1/s → 998.2 1/s, 12.1% slower (11% … 13%)",)
    return _shown(session_summary(folder, changes=changes, regressed={"alm"}, screen=Screen(colour=True, width=width)))


class _Coloured(SmallTerminal):
    def fileno(self) -> int:
        raise OSError


def _shown(text: str) -> SmallTerminal:
    terminal = _Coloured(200)
    terminal.write(text)
    return terminal


def _take(browser: Browser, path: Path, command: str | None, terminal: SmallTerminal) -> None:
    prompt = [f"<b style='color:#fff'>$ {html.escape(command)}</b>"] if command else []
    page = browser.new_page(viewport={"width": 1500, "height": 600}, device_scale_factor=1.5)
    page.set_content(_PAGE.format("\n".join([*prompt, *map(_line, terminal.painted)]).rstrip()))
    page.locator("pre").screenshot(path=str(path))
    page.close()
    print(path)


def _line(cells: Sequence[tuple[str, str]]) -> str:
    return "".join(f"<span style='color:{_COLOURS[colour]}'>{html.escape(letter)}</span>" for letter, colour in cells)
