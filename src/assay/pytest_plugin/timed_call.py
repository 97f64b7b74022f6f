"""A round: a function called so many times between two readings of the clock.

What stands between the readings is the loop and the calls, nothing else. Arguments that are not there are not passed,
since an empty `**kwargs` alone takes longer than a quick function, and no result is held while the next one is made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from time import perf_counter
from typing import Any

from assay.errors import UsageError

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


@dataclass
class TimedCall:
    """A function with its arguments. `setup` runs before every round and `teardown` after it, both untimed."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    setup: Callable[[], Any] | None = None
    teardown: Callable[..., Any] | None = None
    result: Any = None
    """What the last call returned."""

    def round(self, calls: int) -> float:
        """Seconds of so many calls."""
        args, kwargs = self._begin()
        took, self.result = _time_calls(self.function, args, kwargs, calls)
        self._end(args, kwargs)
        return took

    async def round_async(self, calls: int) -> float:
        args, kwargs = self._begin()
        took, self.result = await _time_calls_async(self.function, args, kwargs, calls)
        self._end(args, kwargs)
        return took

    def _begin(self) -> Arguments:
        """What `setup` returns, where it returns any: a pair of positional and named arguments."""
        self.result = None
        made = self.setup() if self.setup is not None else None
        if made is None:
            return self.args, self.kwargs
        if self.args or self.kwargs:
            raise UsageError("pedantic: the arguments come from `args` and `kwargs`, or from `setup`, not from both")
        try:
            args, kwargs = made
            return tuple(args), dict(kwargs)
        except (TypeError, ValueError):
            raise UsageError(f"pedantic: setup returns (args, kwargs) or nothing, not {made!r:.80}") from None

    def _end(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        if self.teardown is not None:
            self.teardown(*args, **kwargs)


def _time_calls(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], calls: int
) -> tuple[float, Any]:
    but_last = repeat(None, calls - 1)
    if kwargs:
        begun = perf_counter()
        for _ in but_last:
            function(*args, **kwargs)
        result = function(*args, **kwargs)
        return perf_counter() - begun, result
    if len(args) > 1:
        begun = perf_counter()
        for _ in but_last:
            function(*args)
        result = function(*args)
        return perf_counter() - begun, result
    if args:
        [only] = args
        begun = perf_counter()
        for _ in but_last:
            function(only)
        result = function(only)
        return perf_counter() - begun, result
    begun = perf_counter()
    for _ in but_last:
        function()
    result = function()
    return perf_counter() - begun, result


async def _time_calls_async(
    function: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: Mapping[str, Any], calls: int
) -> tuple[float, Any]:
    begun = perf_counter()
    for _ in repeat(None, calls - 1):
        await function(*args, **kwargs)
    result = await function(*args, **kwargs)
    return perf_counter() - begun, result
