"""Starts one program in a session of its own, with what must be set between fork and exec."""

import os
import resource


def spawn(argv: list[str], env: dict[str, str], cwd: str, stdout: int, stderr: int, cpus: list[int], nice: int) -> int:
    """The pid. Raises OSError, with the program's name, when it cannot be started."""
    failure_read, failure_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _child(argv, env, cwd, stdout, stderr, cpus, nice)
        except OSError as error:
            missing = argv[0] if os.path.isdir(cwd) else cwd
            os.write(failure_write, f"{error.errno or 0}:{missing}".encode())
        finally:
            os._exit(127)
    os.close(failure_write)
    failure = os.read(failure_read, 4096).decode(errors="replace")
    os.close(failure_read)
    if failure:
        os.waitpid(pid, 0)
        number, _, name = failure.partition(":")
        raise OSError(int(number), os.strerror(int(number)), name)
    return pid


def _child(
    argv: list[str], env: dict[str, str], cwd: str, stdout: int, stderr: int, cpus: list[int], nice: int
) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (stdout, 1), (stderr, 2)):
        os.dup2(source, target)
    if cpus:
        os.sched_setaffinity(0, cpus)
    if nice:
        os.nice(nice)
    # A core file of a crashed benchmark would fill the disk of a nightly machine.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    os.chdir(cwd)
    os.execvpe(argv[0], argv, env)
