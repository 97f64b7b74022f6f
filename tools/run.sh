#!/usr/bin/env bash
# Runs a session in a container: docs/containers.md. Docker and bash are all the host needs.
# Command lines are arrays from end to end: nothing out of a config or a path is ever read by a shell.
set -euo pipefail

usage() {
    cat <<'END'
tools/run.sh [options] --config FILE [options of assay run]
tools/run.sh [options] -- COMMAND [ARGUMENT …]
tools/run.sh --shell [--config FILE …] [-- words for bash]

  --image NAME         default: $ASSAY_IMAGE, $CURATOR_BENCHMARKING_IMAGE or assay:latest
  --gpus WHICH         none, all, device=1, device=0,1; default: $GPUS, or all where nvidia-smi lists one
  --memory SIZE        at most this much, e.g. 64g; default: $MEMORY, or no limit
  --shm-size SIZE      of /dev/shm, where Ray keeps objects; default: $SHM_SIZE, or half of the memory
  --network NAME       default: $NETWORK or host
  --env NAME           hand in one more variable, by name
  --docker-arg WORD    one more word for docker run, e.g. --docker-arg=--cap-add=SYS_PTRACE
  --shell              an interactive shell instead of a session
  --dry-run            print the command and run nothing in a container but the search for volumes
  --help

Everything else goes to `assay run`. $DOCKER names another engine, e.g. podman.
END
}

fail() {
    printf 'run.sh: %s\n' "$*" >&2
    exit 2
}

note() {
    printf 'run.sh: %s\n' "$*" >&2
}

docker=${DOCKER:-docker}
image=${ASSAY_IMAGE:-${CURATOR_BENCHMARKING_IMAGE:-assay:latest}}
gpus=${GPUS:-}
memory=${MEMORY:-}
shm_size=${SHM_SIZE:-}
network=${NETWORK:-host}
shell=no
dry_run=no
docker_args=()
here=$(pwd -P)

files=()      # session files, matrices and data set lists: absolute
planned=()    # what `assay plan --volumes` is asked with
passed=()     # what `assay run` is asked with
unknown=()    # those of them that mean nothing to a shell
after=()      # a command, or words for bash
results=''    # --results-dir
handed=(MLFLOW_TRACKING_URI SLACK_BOT_TOKEN SLACK_CHANNEL_ID GDRIVE_FOLDER_ID GDRIVE_SERVICE_ACCOUNT_FILE
    HOST_HOSTNAME IMAGE_DIGEST ASSAY_RESULTS_DIR HOME USER)
# What a config may mention, but a container has its own of.
never_handed=" PATH LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH PYTHONHOME PWD OLDPWD SHLVL ASSAY_IN_CONTAINER "

# The place of a file with its folder's links resolved, so that it is the same on both sides.
absolute() {
    local folder
    [[ $1 != *[[:cntrl:]]* ]] || fail "${1@Q} has a control character in its name"
    [[ -f $1 ]] || fail "there is no file $1"
    folder=$(cd -- "$(dirname -- "$1")" && pwd -P)
    REPLY=${folder%/}/$(basename -- "$1")
}

read_words() {
    local word value
    while (($#)); do
        word=$1
        shift
        case $word in
        --)
            after=("$@")
            return
            ;;
        --shell) shell=yes && continue ;;
        --dry-run) dry_run=yes && continue ;;
        --help | -h) usage && exit 0 ;;
        --lenient-config) planned+=("$word") passed+=("$word") && continue ;;
        --image | --gpus | --memory | --shm-size | --network | --env | --docker-arg | \
            --config | --matrix | --datasets | --sink | --set | --results-dir)
            (($#)) || fail "$word needs a value; tools/run.sh --help"
            value=$1
            shift
            ;;
        --image=* | --gpus=* | --memory=* | --shm-size=* | --network=* | --env=* | --docker-arg=* | \
            --config=* | --matrix=* | --datasets=* | --sink=* | --set=* | --results-dir=*)
            value=${word#*=}
            word=${word%%=*}
            ;;
        *) unknown+=("$word") passed+=("$word") && continue ;;
        esac
        case $word in
        --image) image=$value ;;
        --gpus) gpus=$value ;;
        --memory) memory=$value ;;
        --shm-size) shm_size=$value ;;
        --network) network=$value ;;
        --env) handed+=("$value") ;;
        --docker-arg) docker_args+=("$value") ;;
        --config | --matrix | --datasets)
            absolute "$value"
            files+=("$REPLY") planned+=("$word" "$REPLY") passed+=("$word" "$REPLY")
            ;;
        --sink | --set) planned+=("$word" "$value") passed+=("$word" "$value") ;;
        --results-dir)
            [[ $value == /* ]] || value=$here/$value
            results=$value passed+=("$word" "$value")
            ;;
        esac
    done
}

# A field of docker's --mount, which is a line of CSV.
csv() {
    local field=$1
    [[ $field != *[\",]* ]] || field="\"${field//\"/\"\"}\""
    REPLY=$field
}

declare -A mounted=()
mounts=()

# give HOST CONTAINER ro|rw: one place in the container holds one thing; the first that asks for it has it.
give() {
    local host=$1 container=$2 mode=$3 source target
    if [[ -n ${mounted[$container]:-} ]]; then
        [[ ${mounted[$container]} == "$host" ]] || note "$container is ${mounted[$container]} already: $host is not given"
        return 0
    fi
    if [[ ! -e $host && $mode == rw ]]; then
        mkdir -p -- "$host"
    elif [[ ! -e $host ]]; then
        note "$host is not on this host: entries that need $container will fail"
        return 0
    fi
    mounted[$container]=$host
    csv "source=$host" && source=$REPLY
    csv "target=$container" && target=$REPLY
    mounts+=(--mount "type=bind,$source,$target$([[ $mode == rw ]] || printf ',readonly')")
}

holds_home() {
    [[ $1 == / || ${HOME:-} == "$1" || ${HOME:-} == "$1"/* ]]
}

# The repository of a file, or its folder, because scripts are beside it; only the file where that would hand in a home.
give_around() {
    local around=${1%/*} top real
    around=${around:-/}
    top=$around
    while [[ $top != / && ! -e $top/.git ]]; do
        top=${top%/*}
        top=${top:-/}
    done
    holds_home "$top" || around=$top
    if holds_home "$around"; then
        around=$1
    fi
    give "$around" "$around" ro
    if [[ -L $1 ]]; then
        real=$(realpath -- "$1")
        [[ $real == "$around"/* ]] || give "$real" "$real" ro
    fi
}

# Names of the variables that the files and --set mention.
mentioned() {
    local pattern='\$\{([A-Za-z_][A-Za-z0-9_]*)' text file
    for file in "${files[@]}" ""; do
        if [[ -n $file ]]; then text=$(tr -d '\0' <"$file"); else text=${planned[*]}; fi
        while [[ $text =~ $pattern ]]; do
            handed+=("${BASH_REMATCH[1]}")
            text=${text#*"${BASH_REMATCH[0]}"}
        done
    done
}

# By name: docker takes the values from its own environment, and no list of processes shows them.
environment=()
hand_in() {
    local name
    local -A seen=()
    for name in "${handed[@]}"; do
        [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || fail "--env takes a variable's name and hands in its value: not $name"
        if [[ -z ${seen[$name]:-} && $never_handed != *" $name "* ]] && printenv "$name" >/dev/null; then
            environment+=(--env "$name")
        fi
        seen[$name]=1
    done
}

# Files made in the container belong to the caller, who reads there what he may read here.
as_caller() {
    local group
    caller=(--user "$(id -u):$(id -g)")
    for group in $(id -G); do
        [[ $group == "$(id -g)" ]] || caller+=(--group-add "$group")
    done
}

# `host<TAB>container<TAB>ro|rw` a line: by assay on this host; by the image where there is none.
find_volumes() {
    if command -v assay >/dev/null; then
        volumes=$(ASSAY_IN_CONTAINER='' assay plan --volumes "${planned[@]}") || exit
        return
    fi
    local file
    for file in "${files[@]}"; do give_around "$file"; done
    volumes=$("$docker" run --rm --network none "${caller[@]}" "${environment[@]}" "${mounts[@]}" --workdir "$here" \
        --entrypoint assay "$image" plan --volumes "${planned[@]}") || exit
    mounts=() mounted=()
}

give_all() {
    local host container mode file
    while IFS=$'\t' read -r host container mode; do
        [[ -z $host ]] || give "$host" "$container" "$mode"
    done <<<"$volumes"
    for file in "${files[@]}"; do give_around "$file"; done
    if [[ -z $results && ${#files[@]} == 0 ]]; then
        results=${ASSAY_RESULTS_DIR:-results}
        [[ $results == /* ]] || results=$here/$results
    fi
    if [[ -n $results ]] && ! is_inside "$results"; then give "$results" "$results" rw; fi
    if [[ -f ${GDRIVE_SERVICE_ACCOUNT_FILE:-} ]]; then
        absolute "$GDRIVE_SERVICE_ACCOUNT_FILE"
        give "$REPLY" "$GDRIVE_SERVICE_ACCOUNT_FILE" ro
    fi
}

# Whether a path of the container lies in a volume that can be written to.
is_inside() {
    local container mode
    while IFS=$'\t' read -r _ container mode; do
        [[ $mode == rw && ($1 == "$container" || $1 == "$container"/*) ]] && return 0
    done <<<"$volumes"
    return 1
}

# An empty home at the place of the caller's, so that ~ and ${HOME} mean the same on both sides.
make_home() {
    case ${HOME:-/} in
    / | *:* | [!/]*) home=(--env HOME=/tmp) ;;
    *) [[ -n ${mounted[$HOME]:-} ]] || home=(--tmpfs "$HOME:exec,mode=1777") ;;
    esac
}

choose_gpus() {
    [[ -n $gpus ]] || { nvidia-smi -L 2>/dev/null | grep -q '^GPU' && gpus=all; } || gpus=none
    case $gpus in
    none) ;;
    all) limits+=(--gpus all) ;;
    device=*) limits+=(--gpus "\"$gpus\"") ;;
    \"device=*\") limits+=(--gpus "$gpus") ;;
    *) fail "--gpus takes none, all or device=N, not $gpus" ;;
    esac
}

choose_memory() {
    local kilobytes
    [[ -z $memory ]] || limits+=(--memory "$memory")
    if [[ -z $shm_size ]]; then
        kilobytes=$(sed -n 's/^MemTotal: *\([0-9]*\) kB$/\1/p' /proc/meminfo)
        shm_size=$((kilobytes / 2))k
    fi
    limits+=(--shm-size "$shm_size")
}

read_words "$@"
command -v "$docker" >/dev/null || fail "there is no $docker here; install Docker, or name another engine: DOCKER=podman"
digest='{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}'
IMAGE_DIGEST=$("$docker" image inspect --format "$digest" "$image") ||
    fail "the image $image is not here: build it with tools/build_docker.sh, or pull it with $docker pull"
HOST_HOSTNAME=${HOST_HOSTNAME:-$(uname -n)}
export IMAGE_DIGEST HOST_HOSTNAME ASSAY_CONTAINER_IMAGE=$image
handed+=(ASSAY_CONTAINER_IMAGE)

volumes='' caller=() home=() limits=()
mentioned
hand_in
as_caller
((${#files[@]} == 0)) || find_volumes
give_all
make_home
choose_gpus
choose_memory

terminal=()
[[ ! -t 0 || ! -t 1 ]] || terminal=(--tty)
if [[ $shell == yes ]]; then
    ((${#unknown[@]} == 0)) || fail "a shell runs no session: leave out ${unknown[0]}, or put words for bash after --"
    entry=(--interactive "${terminal[@]}" --entrypoint bash "$image" "${after[@]}")
else
    entry=("${terminal[@]}" "$image" "${passed[@]}")
    ((${#after[@]} == 0)) || entry+=(-- "${after[@]}")
fi
line=("$docker" run --rm --init --network "$network" "${caller[@]}" "${limits[@]}" --env ASSAY_IN_CONTAINER=1
    "${environment[@]}" "${home[@]}" "${mounts[@]}" --workdir "$here" "${docker_args[@]}" "${entry[@]}")
if [[ $dry_run == yes ]]; then
    printf '%q ' "${line[@]}"
    echo
else
    exec "${line[@]}"
fi
