"""Starts one program in a session of its own.

posix_spawn(3), which shares memory until the exec (vfork): the time and the CPU of a copy of this interpreter are
never in what is measured of the program. What posix_spawn cannot set is set here first and inherited.
"""

import _thread
import errno
import os
import time

from assay.process.output_mask import OutputMask
from assay.process.tree import Tree, stat_fields

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

# What a process asks of the kernel for itself (prctl(2)).

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


# A tree that stands still and goes on where it was: by the freezer of its control group (cgroups(7)), else by
# signals.
#
# A freezer stops every process of the group in one step. What version 1 of it has frozen cannot even be killed, so
# whoever ends a tree thaws it first.

SIGCONT, SIGSTOP = 18, 19
_WORDS = {"cgroup.freeze": ("0", "1"), "freezer.state": ("THAWED", "FROZEN")}
"""What thaws and what freezes, by the name of the group's file: version 2, version 1."""


def set_frozen(file: str, frozen: bool) -> None:
    """Raises OSError where the kernel refuses."""
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, _WORDS[os.path.basename(file)][frozen].encode())
    finally:
        os.close(descriptor)


def stop_tree(tree: Tree) -> None:
    """Stops every process, until a walk finds no new one: a process that has been sent SIGSTOP starts no other.

    Raises PermissionError if one of them is another user's; all others stand still then.
    """
    refused: set[int] = set()
    stopped: set[int] = set()
    while True:
        tree.forget()
        new = {pid for pid in tree.walk() - stopped if (stat_fields(pid) or [b"Z"])[0] != b"Z"}
        if not new:
            break
        for pid in new:
            try:
                os.kill(pid, SIGSTOP)
            except ProcessLookupError:
                pass  # It has ended meanwhile.
            except PermissionError:
                refused.add(pid)
        stopped |= new
    if refused:
        pids = ", ".join(map(str, sorted(refused)))
        raise PermissionError(errno.EPERM, f"Assay may not stop process {pids}, which another user owns")


def continue_tree(tree: Tree) -> None:
    tree.send(SIGCONT)


# Copies a run's output to its files as it comes, byte for byte but for secrets.


class Pump:
    """One pipe into one or more files. A file that cannot be written never stops the run that writes."""

    def __init__(
        self,
        files: list[int],
        mask: "list[tuple[bytes, bytes]] | None" = None,
        shapes: "dict[str, Any] | None" = None,
    ) -> None:
        """`mask`: what is replaced and by what, longest first. `shapes`: what else is; see `ProcessSpec`."""
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)
        self._files = files
        self._mask = OutputMask(mask or [], shapes) if mask or shapes else None
        self.open = True
        self.error = ""
        self.tail = b""

    def close_write_end(self) -> None:
        os.close(self.write_end)

    def copy(self, at_most: int = 1 << 22) -> int:
        """Takes what is there, up to `at_most`; 0 when there is nothing now."""
        taken = 0
        while self.open and taken < at_most:
            try:
                data = os.read(self.read_end, 1 << 16)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                self.close()
                break
            taken += len(data)
            self._put(self._mask.feed(data) if self._mask else data)
        return taken

    def _put(self, data: bytes) -> None:
        self.tail = (self.tail + data)[-4096:]
        for file in self._files:
            self._write(file, data)

    def close(self) -> None:
        if self.open:
            self.open = False
            os.close(self.read_end)
            if self._mask:
                self._put(self._mask.end())

    def _write(self, file: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(file, view) :]
            except OSError as error:
                self.error = (
                    "no space left on the disk" if error.errno == errno.ENOSPC else os.strerror(error.errno or 0)
                )
                return


if TYPE_CHECKING:
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
