#!/usr/bin/env bash
# guidellm and aiperf from the registry, each in an environment of its own. Usage: install.sh FOLDER UV
set -eu
folder=$1 uv=$2
for peer in guidellm==0.8.1 aiperf==0.13.0; do
    where=$folder-${peer%%=*}
    [ -e "$where/.ready" ] && continue
    "$uv" venv --quiet --allow-existing --python "${PYTHON:-python3.11}" "$where"
    # torch comes through pip, which knows where a CPU build is; uv would take gigabytes of CUDA.
    [ "$peer" = guidellm==0.8.1 ] && "$(dirname "$uv")/pip" --python "$where/bin/python" install --quiet torch==2.13.0
    "$uv" pip install --quiet --python "$where/bin/python" --compile-bytecode "$peer"
    touch "$where/.ready"
done
