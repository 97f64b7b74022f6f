from __future__ import annotations

import os
import pty
import re
import signal
import subprocess

from workplace import Workplace

_COLOURS = re.compile(r"\x1b\[\d*m")


def on_a_terminal(place: Workplace, *words: str, interrupt_at: str = "", leave_at: str = "") -> str:
    """What a user sees: the command with a terminal as its output. Ctrl-C is pressed when `interrupt_at` is seen, and
    the window closed when `leave_at` is."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        place.argv(*words), cwd=place.folder, env=place.environment, stdout=terminal, stderr=subprocess.DEVNULL
    )
    os.close(terminal)
    seen = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
        if interrupt_at and interrupt_at in _COLOURS.sub("", seen.decode(errors="replace")):
            process.send_signal(signal.SIGINT)
            interrupt_at = ""
        if leave_at and leave_at in _COLOURS.sub("", seen.decode(errors="replace")):
            break
    os.close(controller)
    process.wait()
    return seen.decode()
