#!/usr/bin/env bash
# Submits one night: an array job with a task an entry, and a job after it that finishes the session, whatever became of
# the tasks. All of them need this folder on a shared file system, and `assay` on their PATH.
#
#     slurm/assay-night.sh [CONFIG [SESSION]]
set -euo pipefail

config=${1:-assay.yaml}
session=${2:-night__$(date -u +%Y-%m-%d__%H-%M-%S)}
here=$(dirname "$0")

names=$(assay run --config "$config" --list)
count=$(wc -l <<< "$names")
mkdir -p slurm-logs
array=$(sbatch --parsable --array="1-$count" "$here/assay-entry.sbatch" "$config" "$session")
sbatch --dependency="afterany:${array%%;*}" "$here/assay-finish.sbatch" "$session"
echo "Session $session: $count tasks; assay show $session says what is there and what is missing"
