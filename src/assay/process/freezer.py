"""A tree that stands still and goes on where it was: by the freezer of its control group (cgroups(7)), else by signals.

A freezer stops every process of the group in one step. What version 1 of it has frozen cannot even be killed, so
whoever ends a tree thaws it first.
"""

import errno
import os

from assay.process.usage.tree import Tree, stat_fields

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
