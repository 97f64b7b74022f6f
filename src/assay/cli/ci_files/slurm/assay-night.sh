#!/usr/bin/env bash
# Submits one night: an array job with a task per entry, and a job after it that finishes the session, whatever became of
# the tasks. All of them need this folder on a shared file system. Assay is installed in .assay-venv here, once, unless
# `assay` is on the PATH.
#
#     slurm/assay-night.sh [CONFIG [SESSION]]
set -euo pipefail

ASSAY_PACKAGE=${ASSAY_PACKAGE:-@@ package_word @@}
config=(@@ config @@)
if [ $# -gt 0 ]; then config=(--config "$1"); fi
session=${2:-night__$(date -u +%Y-%m-%d__%H-%M-%S)}
here=$(dirname "$0")

if ! command -v assay > /dev/null; then
  if [ ! -x .assay-venv/bin/assay ]; then
    python3 -m venv .assay-venv
    .assay-venv/bin/pip install "$ASSAY_PACKAGE"
  fi
  export PATH="$PWD/.assay-venv/bin:$PATH" # sbatch hands the environment on
fi
names=$(assay run "${config[@]}" --list)
count=$(wc -l <<< "$names")
mkdir -p slurm-logs
array=$(sbatch --parsable --array="1-$count" "$here/assay-entry.sbatch" "$session" "${config[@]}")
sbatch --dependency="afterany:${array%%;*}" "$here/assay-finish.sbatch" "$session"
echo "Session $session: $count tasks; assay show $session says what is there and what is missing"
