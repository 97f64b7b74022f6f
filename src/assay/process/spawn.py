"""Starts one program in a session of its own.

posix_spawn(3), which shares memory until the exec (vfork): the time and the CPU of a copy of this interpreter are
never in what is measured of the program. What posix_spawn cannot set is set here first and inherited.
"""

import _thread
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Spawned = tuple[int, float]

SIGPIPE, SIGXFSZ = 13, 25
"""Signals that every Python ignores; a program is started with what a shell would give it."""


def spawn(
    argv: list[str], env: dict[str, str], cwd: str, stdout: int, stderr: int, cpus: list[int], nice: int
) -> "Spawned":
    """The pid, and the moment before it was started. Raises OSError, with the program's name, when it cannot be."""
    os.chdir(cwd)
    try:
        program = _found(argv[0], env)
        files = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, stdout, 1),
            (os.POSIX_SPAWN_DUP2, stderr, 2),
        ]
        options = {"file_actions": files, "setsid": True, "setsigdef": (SIGPIPE, SIGXFSZ)}
        if cpus or nice:
            return _from_a_thread(program, argv, env, options, cpus, nice)
        return _start(program, argv, env, options)
    except OSError as error:
        raise OSError(error.errno, error.strerror, argv[0]) from None
    finally:
        os.chdir("/")


def _start(program: str, argv: list[str], env: dict[str, str], options: "dict[str, Any]") -> "Spawned":
    begun = time.monotonic()
    return os.posix_spawn(program, argv, env, **options), begun


def _from_a_thread(
    program: str, argv: list[str], env: dict[str, str], options: "dict[str, Any]", cpus: list[int], nice: int
) -> "Spawned":
    """Starts the program from a thread that has its processors and niceness: a child inherits them from the thread that
    starts it, and our own stay."""
    done = _thread.allocate_lock()
    started: list[Spawned | OSError] = []

    def start() -> None:
        try:
            if cpus:
                os.sched_setaffinity(0, cpus)
            if nice:
                os.nice(nice)
            started.append(_start(program, argv, env, options))
        except OSError as error:
            started.append(error)
        finally:
            done.release()

    done.acquire()
    _thread.start_new_thread(start, ())
    done.acquire()
    if isinstance(started[0], OSError):
        raise started[0]
    return started[0]


def _found(name: str, env: dict[str, str]) -> str:
    """The program's file, looked up on its own PATH, before the clock starts."""
    if "/" in name:
        return name
    candidates = [f"{folder or '.'}/{name}" for folder in env.get("PATH", os.defpath).split(":")]
    files = [path for path in candidates if os.path.isfile(path)]
    return next((path for path in files if os.access(path, os.X_OK)), files[0] if files else name)
