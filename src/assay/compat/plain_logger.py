"""What stands in for loguru's `logger`: the same methods, lines on standard error and nothing to configure."""

from __future__ import annotations

import sys
import time
import traceback
from contextlib import contextmanager
from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_NUMBERS = {"trace": 5, "debug": 10, "info": 20, "success": 25, "warning": 30, "error": 40, "critical": 50}


class PlainLogger:
    """Everything from `debug` up is printed, as loguru does unless told otherwise; `bind` and `opt` change nothing,
    and `add` gives back a number that `remove` takes."""

    def log(self, level: str | int, message: object, *args: Any, **fields: Any) -> None:
        number = level if isinstance(level, int) else _NUMBERS.get(level.lower(), 20)
        if number < _NUMBERS["debug"]:
            return
        text = str(message)
        if args or fields:
            try:
                text = text.format(*args, **fields)
            except (IndexError, KeyError, ValueError, AttributeError, TypeError):
                text = f"{text} {args or ''} {fields or ''}".strip()
        shown = level.upper() if isinstance(level, str) else f"Level {level}"
        print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} | {shown:<8} | {text}", file=sys.stderr, flush=True)

    def exception(self, message: object, *args: Any, **fields: Any) -> None:
        self.log("error", message, *args, **fields)
        if sys.exc_info()[0] is not None:
            traceback.print_exc(file=sys.stderr)

    def catch(self, given: Any = None, *, reraise: bool = False, **options: Any) -> Any:
        """A decorator, with or without arguments, or a context: what is raised is printed."""
        if callable(given) and not isinstance(given, type):
            return _Catching(self, Exception, reraise)(given)
        return _Catching(self, given or Exception, reraise)

    def add(self, *args: Any, **options: Any) -> int:
        return 1

    def remove(self, handler: int | None = None) -> None:
        """There is one place that lines go to, and it stays."""

    def bind(self, **fields: Any) -> PlainLogger:
        return self

    def opt(self, **options: Any) -> PlainLogger:
        return self

    def patch(self, patcher: Any) -> PlainLogger:
        return self

    @contextmanager
    def contextualize(self, **fields: Any) -> Iterator[None]:
        yield

    def configure(self, **options: Any) -> list[int]:
        return []

    def enable(self, name: str) -> None:
        """Nothing is disabled."""

    def disable(self, name: str) -> None:
        """Lines are printed whoever logs them."""

    def complete(self) -> None:
        """Each line has been written when its method returns."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in _NUMBERS:
            raise AttributeError(f"Assay's stand-in for loguru has no logger.{name}; pip install loguru", name=name)
        return lambda message, *args, **fields: self.log(name, message, *args, **fields)


class _Catching:
    def __init__(self, logger: PlainLogger, kind: Any, reraise: bool) -> None:
        self._logger, self._kind, self._reraise = logger, kind, reraise

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, at: Any) -> bool:
        if error is None or not isinstance(error, self._kind):
            return False
        self._logger.log("error", "caught {}: {}", type(error).__name__, error)
        traceback.print_exception(kind, error, at, file=sys.stderr)
        return not self._reraise

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call_guarded(*args: Any, **options: Any) -> Any:
            with self:
                return function(*args, **options)

        return call_guarded


logger = PlainLogger()
