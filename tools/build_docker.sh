#!/usr/bin/env bash
# Builds the image that tools/run.sh runs: docs/containers.md. Prints its name.
set -euo pipefail

usage() {
    cat <<'END'
tools/build_docker.sh [options]

  --target WHICH       cpu; cuda: with CUDA and torch; onto: into the Python of the base. Default: cpu, or onto with a base
  --base IMAGE         what to build on; default: $CURATOR_IMAGE, or Debian (cpu), NVIDIA's CUDA on Ubuntu (cuda)
  --image NAME         default: $CURATOR_BENCHMARKING_IMAGE or assay; without a tag the time (UTC) is the tag
  --tag-as-latest      NAME:latest too
  --requirements FILE  of requirements/: lock.txt, with every extra but torch (default), or core.txt; not for onto
  --extras A,B         of Assay, for onto: what the base does not have; default: gdrive,gpu,slack
  --docker-arg WORD    one more word for docker build, e.g. --docker-arg=--no-cache
  --skip-curator-image-build            pull the base, even if one of its name is here
  --skip-curator-image-build-and-pull   take the base that is here, and fail if there is none
  --help

$DOCKER names another engine, e.g. podman.
END
}

fail() {
    printf 'build_docker.sh: %s\n' "$*" >&2
    exit 2
}

docker=${DOCKER:-docker}
target=
base=${CURATOR_IMAGE:-}
image=${CURATOR_BENCHMARKING_IMAGE:-assay}
requirements=lock.txt
extras=gdrive,gpu,slack
latest=no
pull=missing
docker_args=()
repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)

while (($#)); do
    word=$1
    shift
    case $word in
    --tag-as-latest) latest=yes && continue ;;
    --skip-curator-image-build) pull=always && continue ;;
    --skip-curator-image-build-and-pull) pull=never && continue ;;
    --help | -h) usage && exit 0 ;;
    --target | --base | --image | --requirements | --extras | --docker-arg)
        (($#)) || fail "$word needs a value; tools/build_docker.sh --help"
        value=$1
        shift
        ;;
    --target=* | --base=* | --image=* | --requirements=* | --extras=* | --docker-arg=*)
        value=${word#*=}
        word=${word%%=*}
        ;;
    *) fail "unknown option $word; tools/build_docker.sh --help" ;;
    esac
    case $word in
    --target) target=$value ;;
    --base) base=$value ;;
    --image) image=$value ;;
    --requirements) requirements=$value ;;
    --extras) extras=$value ;;
    --docker-arg) docker_args+=("$value") ;;
    esac
done

[[ -n $target ]] || target=$([[ -z $base ]] && echo cpu || echo onto)
case $target in
cpu) base=${base:-debian:bookworm-slim} ;;
cuda) base=${base:-nvidia/cuda:12.8.1-runtime-ubuntu24.04} ;;
onto) [[ -n $base ]] || fail "--target onto needs a base with a Python: --base IMAGE, or CURATOR_IMAGE" ;;
*) fail "unknown target $target; known: cpu, cuda, onto" ;;
esac
[[ -f $repository/requirements/$requirements ]] || fail "there is no requirements/$requirements; known: lock.txt, core.txt"
command -v "$docker" >/dev/null || fail "there is no $docker here; install Docker, or name another engine: DOCKER=podman"
if [[ $pull == never ]]; then
    "$docker" image inspect --format '{{.Id}}' "$base" >/dev/null || fail "the base $base is not here: build it, or pull it"
fi

# Only what follows the last slash can have a tag: a registry has a port.
if [[ ${image##*/} != *:* ]]; then
    image=$image:$(date -u +%Y-%m-%d__%H-%M-%S)
fi
tags=(--tag "$image")
[[ $latest == no ]] || tags+=(--tag "${image%:*}:latest")
labels=(--label "org.opencontainers.image.created=$(date -u +%Y-%m-%dT%H:%M:%SZ)")
if commit=$(git -C "$repository" describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null); then
    labels+=(--label "org.opencontainers.image.revision=$commit")
fi
arguments=(--build-arg "BASE=$base")
if [[ $target == onto ]]; then
    arguments+=(--build-arg "EXTRAS=$extras")
else
    arguments+=(--build-arg "REQUIREMENTS=$requirements")
fi
[[ $pull != always ]] || docker_args=(--pull "${docker_args[@]}")

"$docker" build --file "$repository/docker/Dockerfile" --target "$target" "${arguments[@]}" "${labels[@]}" "${tags[@]}" \
    "${docker_args[@]}" "$repository" >&2
printf '%s\n' "$image"
