from __future__ import annotations

import logging
import traceback

LOGGERS = ("uvicorn.error", "asyncio")


class OneLine(logging.Formatter):
    """What the dashboard's server says, a line each: of an error its kind and its place instead of a traceback.

    Requests are written by whoever reaches the port, and some of them make the server's own parser raise.
    """

    def format(self, record: logging.LogRecord) -> str:
        said = record.getMessage().partition("\n")[0]
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return f"assay: {said}"
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = "".join(f" ({frame.filename}:{frame.lineno})" for frame in last)
        return f"assay: {said}: {type(error).__name__}: {str(error).partition(chr(10))[0]}{where}"


def log_in_lines() -> None:
    """Logs warnings and worse to standard error, one line each."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
