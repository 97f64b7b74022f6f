from __future__ import annotations

import sys
from collections.abc import Callable

from assay.errors import AssayError


def exit_code(program: str, work: Callable[[], int | None], shown: Callable[[str], str] = str) -> int:
    """The main function of a benchmark program: an error that a user can cause is one message, without a traceback.

    `work` gives the code, None for 0; `shown` keeps secrets out of messages.
    """
    try:
        return work() or 0
    except AssayError as error:
        print(f"{program}: {shown(str(error))}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130
