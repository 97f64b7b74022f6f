"""`docker image inspect` and `docker run` for one root folder, as far as tools/run.sh asks for them.

    python -m tools.chroot_engine IMAGE.json docker's words …

For `make docker-check`, where no engine is: volumes are bind mounts and a home is a tmpfs in a mount namespace of its
own, variables are taken by name. Limits, GPUs and networks are left to engines. Other options are errors.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

_ENTER = """
root=$1; shift
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
while [ "$1" != -- ]; do
    case $1 in
    tmpfs) mkdir -p "$root$3" && mount -t tmpfs -o mode=1777 tmpfs "$root$3" ;;
    *)
        if [ -d "$2" ]; then mkdir -p "$root$3"; else mkdir -p "$(dirname "$root$3")" && touch "$root$3"; fi
        mount --bind "$2" "$root$3"
        [ "$1" = rw ] || mount -o remount,bind,ro "$root$3"
        ;;
    esac
    shift 3
done
shift
exec chroot "$@"
"""
"""Script that runs in a mount namespace of its own, whose mounts end with it. Its words: `kind source target` for each
mount, `--`, then those of chroot."""


@dataclass(frozen=True)
class Mount:
    kind: str
    source: str
    target: str

    @classmethod
    def read(cls, written: str) -> Mount:
        """Reads the value of --mount, a line of CSV."""
        fields = dict(item.partition("=")[::2] for item in next(csv.reader([written])))
        if fields.pop("type") != "bind":
            raise SystemExit(f"chroot_engine: --mount {written} is not a bind")
        return cls("ro" if "readonly" in fields else "rw", fields["source"], fields["target"])


@dataclass
class Image:
    """A root folder, and what a container of it starts with."""

    root: str
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "0"
    folder: str = "/"
    entry: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    def line(
        self, command: Sequence[str], more: Mapping[str, str], user: str, folder: str, mounts: Sequence[Mount] = ()
    ) -> list[str]:
        """The command that starts a container. Outer mounts come before those inside them, as engines have it."""
        line = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", _ENTER, "sh", self.root]
        for mount in sorted(mounts, key=lambda mount: mount.target.count("/")):
            line += [mount.kind, mount.source, mount.target]
        user = user if ":" in user else f"{user}:{user}"
        variables = {"HOME": "/root", **self.environment, **more}
        line += ["--", f"--userspec={user}", "--groups=", self.root, "env", "-i", f"--chdir={folder}"]
        return [*line, *(f"{name}={value}" for name, value in variables.items()), *command]


def main() -> None:
    image = Image(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    if sys.argv[2:4] == ["image", "inspect"]:
        print("sha256:of-the-chroot")
        return
    args = _parser().parse_args(sys.argv[2:])
    variables = {}
    for given in args.env:
        name, sign, value = given.partition("=")
        variables[name] = value if sign else os.environ[name]
    mounts = [Mount.read(written) for written in args.mount]
    mounts += [Mount("tmpfs", "tmpfs", written.partition(":")[0]) for written in args.tmpfs]
    Path(image.root, args.workdir.lstrip("/")).mkdir(parents=True, exist_ok=True)
    command = [*([args.entrypoint] if args.entrypoint else image.entry), *args.words]
    line = image.line(command, variables, args.user, args.workdir, mounts)
    sys.stdout.flush()
    os.execvp(line[0], line)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="chroot_engine", allow_abbrev=False)
    parser.add_argument("run", choices=["run"])
    for name in ("rm", "init", "interactive", "tty"):
        parser.add_argument(f"--{name}", action="store_true")
    for name in ("network", "shm-size", "memory", "gpus", "user", "entrypoint"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--workdir", default="/")
    for name in ("group-add", "env", "mount", "tmpfs"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("image")
    parser.add_argument("words", nargs=argparse.REMAINDER)
    return parser


if __name__ == "__main__":
    main()
