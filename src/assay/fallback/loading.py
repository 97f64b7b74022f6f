from __future__ import annotations

import sys

from assay.fallback.stand_ins import FINDER, install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class loading_user_code:
    """Block in which a class of a user's is imported and made: what it imports of other frameworks is ours where theirs
    is missing. What was given out is told by `FINDER.take_used`. The modules are forgotten afterwards, so that a folder
    of such a name which comes later is found."""

    def __enter__(self) -> None:
        self._mine = install()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._mine:
            sys.meta_path.remove(FINDER)
            for name in [name for name, module in sys.modules.items() if getattr(module, "__loader__", None) is FINDER]:
                del sys.modules[name]
