"""`make docker-check`: carries out docker/Dockerfile in a clean root, and runs a session in what comes out.

For machines without an engine. It reads the Dockerfile itself, so that the two cannot drift apart: a stage is a folder,
RUN is a shell in a chroot with namespaces of its own, the base is what debootstrap makes from the mirror that apt uses
here. Needs root, debootstrap, and registries for apt and pip; pip's settings are those of this process's environment.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from tools.chroot_engine import Image
from tools.dockerfile import Dockerfile, Ignored, Step, expand, pairs, words

REPOSITORY = Path(__file__).parent.parent
SUITE = "bookworm"
CERTIFICATES = "/run/machine-certificates.pem"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def copied(image: Image, root: Path) -> Image:
    subprocess.run(["cp", "--archive", "--reflink=auto", image.root, root], check=True)
    return Image(str(root), dict(image.environment), image.user, image.folder, list(image.entry))


def printed(line: Sequence[str], variables: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """What a command prints, to this program's error output too."""
    running = subprocess.Popen(
        line, env=variables, cwd=folder, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert running.stdout is not None
    lines = []
    for text in running.stdout:
        lines.append(text)
        sys.stderr.write(f"    {text}")
    if running.wait() != 0:
        raise SystemExit(f"docker-check: {list(line)[-1]} ended with {running.returncode}")
    return "".join(lines)


class Build:
    """Makes an image of each stage that the target needs, once."""

    def __init__(self, dockerfile: Dockerfile, given: Mapping[str, str], base: Path, work: Path) -> None:
        self._dockerfile, self._given, self._work = dockerfile, given, work
        self._images = {"": Image(str(base), {"PATH": _PATH})}
        self._machine = machine_variables()
        self._ignored = Ignored.read(REPOSITORY / ".dockerignore")

    def image(self, name: str) -> Image:
        stage = self._dockerfile.stage(name)
        if stage is None:
            print(f"docker-check: a clean {SUITE} root stands for the image {name}", file=sys.stderr)
            return self._images[""]
        if not stage.steps:
            return self.image(stage.base)
        if name not in self._images:
            image = copied(self.image(stage.base), self._work / name)
            arguments: dict[str, str] = {}
            for step in stage.steps:
                print(f"docker-check: {name}: {step.word} {step.rest}", file=sys.stderr)
                self._carry_out(step, image, arguments)
            self._images[name] = image
        return self._images[name]

    def _carry_out(self, step: Step, image: Image, arguments: dict[str, str]) -> None:
        seen = {**arguments, **image.environment}
        match step.word:
            case "ARG":
                name, _, value = step.rest.partition("=")
                arguments[name] = self._given.get(name, value or self._dockerfile.arguments.get(name, ""))
            case "RUN":
                command = ["/bin/sh", "-c", step.rest.replace("\n", " ")]
                printed(image.line(command, {**self._machine, **arguments}, image.user, image.folder))
            case "COPY":
                self._copy(expand(step.rest, seen).split(), image)
            case "ENV":
                image.environment.update(pairs(step.rest, seen))
            case "USER":
                image.user = expand(step.rest, seen)
            case "WORKDIR":
                image.folder = str(PurePosixPath(image.folder) / expand(step.rest, seen))
                _inside(image.root, image.folder).mkdir(parents=True, exist_ok=True)
            case "ENTRYPOINT":
                image.entry = words(step.rest)

    def _copy(self, given: list[str], image: Image) -> None:
        other = given.pop(0).removeprefix("--from=") if given[0].startswith("--from=") else None
        *sources, target = given
        place = _inside(image.root, str(PurePosixPath(image.folder) / target))
        into = target.endswith("/") or len(sources) > 1
        for source in sources:
            found = _inside(self.image(other).root, source) if other else REPOSITORY / source
            goal = place / found.name if into and not found.is_dir() else place
            if found.is_dir() and other:
                goal.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "--archive", "--reflink=auto", f"{found}/.", goal], check=True)
            elif found.is_dir():
                shutil.copytree(found, goal, symlinks=True, dirs_exist_ok=True, ignore=self._left_out)
            elif self._ignored(PurePosixPath(source)):
                raise SystemExit(f"docker-check: .dockerignore leaves out {source}, which COPY asks for")
            else:
                goal.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(found, goal)

    def _left_out(self, folder: str, names: list[str]) -> list[str]:
        inside = PurePosixPath(os.path.relpath(folder, REPOSITORY))
        return [name for name in names if self._ignored(inside / name)]


def _inside(root: Path | str, path: str) -> Path:
    return Path(root) / path.lstrip("/")


def machine_variables() -> dict[str, str]:
    """What pip needs here, and an image does not keep."""
    own = {name: value for name, value in os.environ.items() if name.startswith("PIP_") and not _is_local(value)}
    return {**own, "PIP_CERT": CERTIFICATES, "SSL_CERT_FILE": CERTIFICATES}


def _is_local(value: str) -> bool:
    """A file or folder of this machine, which the root does not have."""
    return value.startswith(("/", "file:"))


def clean_root(place: Path, packages: str) -> None:
    """Debian from the mirror of apt's own configuration, with apt's options of this machine."""
    wanted = ["Created-By: Packages", f"Release: {SUITE}"]
    asked = ["apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted]
    mirrors = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
    if not mirrors:
        raise SystemExit(
            f"docker-check: apt has no lists of Debian {SUITE} here: apt-get update, on a machine that uses it"
        )
    more = [f"--include={packages}"] if packages else []
    subprocess.run(["debootstrap", "--variant=minbase", *more, SUITE, place, mirrors[0]], check=True, stdout=sys.stderr)


def as_this_machine(root: Path) -> None:
    """Names, certificates and apt's options: what an engine, or its network, gives a container."""
    options = subprocess.run(["apt-config", "dump", "Acquire"], check=True, capture_output=True, text=True).stdout
    (root / "etc/apt/apt.conf.d/99machine").write_text(options)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    shutil.copy(os.environ.get("PIP_CERT", "/etc/ssl/certs/ca-certificates.crt"), _inside(root, CERTIFICATES))


SESSION = """
paths:
  - {{name: data, host_path: "{place}/my data", container_path: /data}}
  - {{name: results_path, host_path: {place}/results}}
datasets: [{{name: d, formats: [{{type: t, path: "{{data}}/d"}}]}}]
delete_scratch: false
entries:
  - {{name: reads, command: "cat {{dataset:d,t}}"}}
  - {{name: cannot_write, command: "sh -c '! touch /data/new'"}}
"""


def show(image: Image, work: Path) -> None:
    """A session by the entry point, as the user of the image; one by tools/run.sh, as a user whom it does not know."""
    command = [*image.entry, "--runs", "2", "--", "true"]
    printed(image.line(command, {}, image.user, image.folder))
    said = printed(image.line(["bash", "-c", "id -u && assay show"], {}, image.user, image.folder))
    if said.split()[0] != image.user or image.user == "0":
        raise SystemExit(f"docker-check: runs as {said.split()[0]}, not as {image.user}")
    place = work / "host"
    for folder in ("my data", "results", "bin"):
        (place / folder).mkdir(parents=True)
    (place / "my data/d").write_text("rows\n")
    (place / "nightly.yaml").write_text(SESSION.format(place=place))
    for folder in ("my data", "results"):
        os.chown(place / folder, 12345, 12345)
    image.write(work / "image.json")
    engine = place / "bin/docker"
    words = shlex.join([sys.executable, "-m", "tools.chroot_engine", str(work / "image.json")])
    engine.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(REPOSITORY))} exec {words} "$@"\n')
    engine.chmod(0o755)
    variables = {"PATH": f"{place}/bin:{_PATH}", "HOME": "/home/somebody"}
    line = [str(REPOSITORY / "tools/run.sh"), "--docker-arg=--user=12345:12345", "--config", "nightly.yaml"]
    printed(line, variables, place)
    check_results(place / "results")


def check_results(results: Path) -> None:
    """Checks the results on the host: they belong to who ran it, no link leads nowhere, and they name the image."""
    made = [path for path in results.rglob("*") if "history" not in path.name]
    strange = [path for path in made if path.lstat().st_uid != 12345 or not path.exists()]
    image = json.loads(next(results.glob("*/env.json")).read_text())["container_image"]
    if strange or not made or image != "assay:latest@sha256:of-the-chroot":
        raise SystemExit(f"docker-check: results are not as they should be: {strange}, {image}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make docker-check", description=__doc__)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--build-arg", metavar="NAME=VALUE", action="append", default=[])
    parser.add_argument("--base", metavar="DIR", type=Path, help="a root to begin with instead of a clean one")
    parser.add_argument("--packages", default="", help="Debian packages that the base has, separated by commas")
    args = parser.parse_args()
    if os.geteuid() != 0 or not (args.base or shutil.which("debootstrap")):
        raise SystemExit("docker-check needs root and debootstrap: apt-get install debootstrap")
    given = dict(pair.split("=", 1) for pair in args.build_arg)
    with tempfile.TemporaryDirectory(prefix="docker-check-") as folder:
        work = Path(folder)
        base = work / "base"
        if args.base:
            copied(Image(str(args.base)), base)
        else:
            clean_root(base, args.packages)
        as_this_machine(base)
        image = Build(Dockerfile.read(REPOSITORY / "docker/Dockerfile", given), given, base, work).image(args.target)
        show(image, work)
    print(f"docker-check: target {args.target}: every step was carried out, and sessions ran in it")


if __name__ == "__main__":
    main()
