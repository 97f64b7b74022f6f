"""What a process asks of the kernel for itself (prctl(2))."""

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


def adopt_orphans(wanted: bool = True) -> None:
    """Whether descendants whose parent has ended become children of this process rather than of init."""
    if _prctl(PR_SET_CHILD_SUBREAPER, int(wanted)):
        raise OSError("prctl(PR_SET_CHILD_SUBREAPER) is refused here")


def keep_out() -> None:
    """Other processes of the user can no longer open this one's pipes (/proc/PID/fd) or trace it; root still can."""
    _prctl(PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> int:
    import _ctypes  # What `ctypes` is made of: importing that takes milliseconds of every run.

    prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]  # None: what is loaded
    return int(_ctypes.call_function(prctl, (option, value, 0, 0, 0)))
